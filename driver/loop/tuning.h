// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "build_step/kernel_context.h"
#include "loop/workbench.h"
#include "store/variant_store.h"
#include "values/progress.h"
#include "values/variant.h"

namespace kagent::loop {

struct TuningOptions {
  WorkbenchOptions bench;
  int rounds = 6;
  int width = 8;
  std::chrono::seconds time_budget{300};
  double min_gain = 0.01;
  bool again = false;  // go on although an earlier run was concluded for this key
};

struct TuningResult {
  bool interrupted = false;
  bool concluded_before = false;   // an earlier run, or another process, had the result already
  std::optional<Variant> variant;  // the newest accepted in this run
  std::string reason;              // why it ended
  int trials = 0;                  // of this run
};

// One run of the loop for one kernel and architecture: propose, gate, compile, verify, race, judge, keep; until rounds,
// time or the space are used up, or nothing moves any more. Everything finished is on record at once, so that an
// interrupted run goes on where it was. Two runs of the same kernel wait for each other.
Result<TuningResult> tune(const build_step::KernelContext& context, store::VariantStore& variants,
                          const TuningOptions& options, ProgressObserver& progress,
                          const std::function<bool()>& interrupted);

}  // namespace kagent::loop
