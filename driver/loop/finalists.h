// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "loop/acceptance.h"
#include "loop/history.h"
#include "loop/measurement.h"
#include "loop/run_scope.h"
#include "loop/workbench.h"
#include "profiler/roofline.h"
#include "values/variant.h"

namespace kagent::loop {

// The incumbent of a run, and the judging of those that look faster. Throws UserError where a stage cannot do its job.
class Finalists {
 public:
  // The incumbent is the variant that a build would take now, if it still compiles and passes; else the baseline.
  // `bench`: null for a replay, which compiles and measures nothing.
  Finalists(const RunScope& run, Workbench* bench, History& history);

  // For whoever is told what limits the baseline and the incumbent: takes seconds on a GPU.
  void look_at_incumbent() const;

  // Judges up to `most` of the best candidates that are under `share` of the incumbent's time and not judged yet. Once
  // the time budget is used up none but the first of the run.
  void judge_best(double share, int most);

  // The newest that was accepted here.
  const std::optional<Variant>& accepted() const { return accepted_; }
  // The incumbent's, weighted over the timed cases; nothing where the spec counts no work, or nothing was measured yet
  // as the build compiles it.
  std::optional<double> roofline_share() const;

 private:
  IncumbentFound choose_incumbent();
  Raced race_incumbent();
  bool judge(const Trial& trial);
  JudgedFinalist judged_now(const Trial& trial);
  Evaluated rebuilt(const Trial& trial);

  const RunScope& run_;
  Workbench* bench_;
  History& history_;
  std::size_t trials_before_;   // of earlier runs, which may have been compiled or measured otherwise
  Incumbent incumbent_;         // not of a replay
  double incumbent_ratio_ = 1;  // of its time over the baseline's, as far as measured
  std::optional<Variant> accepted_;
  profiler::Ceilings ceilings_;
  bool is_baseline_ = true;               // the incumbent
  std::optional<double> roofline_share_;  // of a variant
  std::set<std::string> judged_;
  bool judged_here_ = false;  // in this run
};

}  // namespace kagent::loop
