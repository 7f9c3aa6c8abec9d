// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "values/brief.h"
#include "values/candidate.h"
#include "values/error.h"
#include "values/kernel_spec.h"
#include "values/trial.h"

namespace kagent::proposer {

// What a proposer may know. Every finished trial of this key and architecture is in `history`, oldest first, so that a
// proposer needs no state of its own and an interrupted run simply asks again.
struct Proposal {
  const KernelSpec& spec;
  const std::string& source;  // text that candidates start from
  const std::vector<Trial>& history;
  std::uint64_t seed = 0;
  const Brief* brief = nullptr;  // for proposers that write code
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual std::string name() const = 0;
  // Up to `width` new candidates, none of them in the history; fewer, or none, when there is nothing left to try.
  virtual Result<std::vector<Candidate>> propose(const Proposal& proposal, int width) = 0;
  // One more try at a candidate that failed; nothing from a proposer that does not repair.
  virtual Result<std::optional<Candidate>> repair(const Proposal&, const FailedCandidate&) { return std::nullopt; }
};

}  // namespace kagent::proposer
