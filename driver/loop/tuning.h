// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "build_step/kernel_context.h"
#include "loop/proposers.h"
#include "loop/workbench.h"
#include "store/variant_store.h"
#include "values/phase_times.h"
#include "values/progress.h"
#include "values/variant.h"

namespace kagent::loop {

class Course;

struct TuningOptions {
  WorkbenchOptions bench;
  int rounds = 6;
  int width = 8;
  std::chrono::seconds time_budget{300};
  double min_gain = 0.01;
  ProposerChoice proposer;                                                                    // beside the search
  std::function<Proposers(const ProposerChoice&, const proposer::model::GiveUp&)> proposers;  // empty: make_proposers()
  int population = 0;  // > 0: a generation is bred from so many matings; rounds are generations
  std::optional<double> goal_speedup;
  bool again = false;  // go on although an earlier run was concluded for this key
  // Take what is found out from this record: nothing is compiled, measured or accepted.
  Course* replayed = nullptr;
};

// What a run used of models, a role each.
using UsageByRole = std::map<std::string, Usage>;

struct TuningResult {
  bool interrupted = false;
  bool concluded_before = false;   // an earlier run, or another process, had the result already
  std::optional<Variant> variant;  // the newest accepted in this run
  std::string reason;              // why it ended
  int trials = 0;                  // of this run
  UsageByRole usage;
  AnswerCounts answers;  // of models
  PhaseTimes times;
};

// One run of the loop for one kernel and architecture: propose, gate, compile, verify, race, judge, keep; until rounds,
// time or the space are used up, or nothing moves any more. Everything finished is on record at once, so that an
// interrupted run goes on where it was. Two runs of the same kernel wait for each other.
Result<TuningResult> tune(const build_step::KernelContext& context, store::VariantStore& variants,
                          const TuningOptions& options, ProgressObserver& progress,
                          const std::function<bool()>& interrupted);

// What a run would send to a model first, and where to, after the same preparation: nothing is sent. In words where
// nobody is asked.
Result<std::string> preview_request(const build_step::KernelContext& context, store::VariantStore& variants,
                                    const TuningOptions& options, ProgressObserver& progress,
                                    const std::function<bool()>& interrupted);

}  // namespace kagent::loop
