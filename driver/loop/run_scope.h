// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "build_step/kernel_context.h"
#include "loop/budget.h"
#include "loop/course.h"
#include "loop/measurement.h"
#include "loop/tuning.h"
#include "loop/workbench.h"
#include "store/trial_store.h"
#include "store/variant_store.h"
#include "util/lock.h"
#include "values/progress.h"

namespace kagent::loop {

// What every part of one run works on: all of it outlives the run.
struct RunScope {
  const build_step::KernelContext& context;
  store::VariantStore& variants;
  store::TrialStore& trials;
  const TuningOptions& options;
  ProgressObserver& progress;
  const std::function<bool()>& interrupted;
  Budget& budget;
  Course& course;

  // Of the time budget, at a point where it decides something.
  std::chrono::duration<double> time_left() const {
    return options.time_budget - std::chrono::duration<double>(course.elapsed_s(budget));
  }
};

// At the end, so many of the best are judged before 'no improvement' is believed.
inline constexpr int kFinalists = 3;

// Runs and sessions of one kernel and architecture wait for each other.
Result<util::FileLock> lock_kernel(const build_step::KernelContext& context, const TuningOptions& options,
                                   ProgressObserver& progress, const std::function<bool()>& interrupted);

// A source that sets its tunables itself would make every candidate the same program. Throws UserError.
void demand_live_tunables(const build_step::KernelContext& context);

// How a measurement of this run goes: its limits, its share of the time that is left, a secret seed.
MeasurementOptions measuring(const RunScope& run, const Workbench& bench);

}  // namespace kagent::loop
