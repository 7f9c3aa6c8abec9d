// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "loop/evaluation.h"
#include "loop/history.h"
#include "loop/run_scope.h"
#include "loop/workbench.h"
#include "values/progress.h"

namespace kagent::loop {

// Takes candidates of a run through gate, compiler, checks and race, and counts for the display. Throws UserError where
// a stage cannot do its job.
class BatchRunner {
 public:
  // `bench`: null for a replay, which compiles and measures nothing.
  BatchRunner(const RunScope& run, Workbench* bench, History& history) : run_(run), bench_(bench), history_(history) {}

  // Evaluates, races what passed, and records what is finished. A verified candidate without a measurement was
  // interrupted: it is not finished, and the next run takes it up again. Returns what was recorded.
  std::vector<Evaluated> run(std::vector<Candidate> candidates);

  // Looks for the best values of the tunables that a candidate brought itself, `width` at a time: the search's part of
  // its work, before anything is judged. Returns what was recorded.
  std::vector<Evaluated> tune_own(const Evaluated& written, int width);

 private:
  std::vector<Evaluated> tried(const std::vector<Candidate>& candidates);
  void complete_recorded(std::vector<Evaluated>& recorded, const std::vector<Candidate>& candidates,
                         const std::vector<std::string>& hashes);
  void count(const Evaluated& one);
  std::vector<Evaluated> compiled_and_verified(const std::vector<Candidate>& candidates);
  void race_verified(std::vector<Evaluated>& evaluated);

  const RunScope& run_;
  Workbench* bench_;
  History& history_;
  StageCounts counts_;
};

}  // namespace kagent::loop
