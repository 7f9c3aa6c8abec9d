// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loop/workbench.h"
#include "values/candidate.h"
#include "values/trial.h"

namespace kagent::loop {

// One candidate after gate, compiler and checks: ready to be measured if the outcome is ok.
struct Evaluated {
  Trial trial;
  std::optional<Binary> binary;  // if it compiled
  std::map<std::string, double> max_error_over_bound;
  std::string diagnostics;  // of a failure, distilled, for its proposer: several lines; Trial::detail has the first
};

// A candidate's hash on record: of its rendered source, with its tunables and launch.
std::string candidate_hash(const Candidate& candidate, const KernelRequest& request);

// The source of a candidate on record, by its hash; null where there is none.
using SourceOf = std::function<const std::string*(const std::string& candidate_hash)>;

// Takes candidates through gate, toolchain, runner and verifier, several at once. `known_objects` maps the object hash
// of trials on record to those trials: an equal program is not run again, it is a duplicate with the score of the
// first. `source_of` gives what a candidate was made of, so that the gate sees what was changed. `finished` is called
// for each, from the calling thread, as it ends; `interrupted` is asked before each starts.
Result<std::vector<Evaluated>> evaluate(Workbench& bench, const std::vector<Candidate>& candidates,
                                        const std::map<std::string, Trial>& known_objects, const SourceOf& source_of,
                                        const std::function<void(const Evaluated&)>& finished,
                                        const std::function<bool()>& interrupted);

}  // namespace kagent::loop
