// SPDX-License-Identifier: Apache-2.0
#include "loop/run_scope.h"

#include <algorithm>

namespace kagent::loop {
namespace {

// Whoever is judged gets so much time for each comparison, also when the time budget is used up: four pairs of
// processes with some timed cases, which suffice for what is plain.
constexpr std::chrono::milliseconds kLeastMeasuring{8'000};

}  // namespace

MeasurementOptions measuring(const RunScope& run, const Workbench& bench) {
  MeasurementOptions options = bench.measuring();
  options.policy.min_gain = run.options.min_gain;
  options.policy.max_regression = run.context.spec.goal.max_regression;
  options.budget = std::clamp(run.budget.left(), kLeastMeasuring, options.budget);
  options.interrupted = run.interrupted;
  options.waiting = [&progress = run.progress](const std::string& holder) {
    progress.on_event(Warning{"waiting for another measurement on this machine (" + holder + ")"});
  };
  return options;
}

}  // namespace kagent::loop
