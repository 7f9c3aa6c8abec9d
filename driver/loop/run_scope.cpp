// SPDX-License-Identifier: Apache-2.0
#include "loop/run_scope.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "gate/gate.h"

namespace kagent::loop {
namespace {

// Whoever is judged gets so much time for each comparison, also when the time budget is used up: four pairs of
// processes with some timed cases, which suffice for what is plain.
constexpr std::chrono::milliseconds kLeastMeasuring{8'000};

}  // namespace

Result<util::FileLock> lock_kernel(const build_step::KernelContext& context, const TuningOptions& options,
                                   ProgressObserver& progress, const std::function<bool()>& interrupted) {
  const std::filesystem::path file =
      options.bench.state_folder / "locks" / (context.request.kernel + "-" + context.architecture + ".lock");
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error)
    return failure("cannot make the folder '" + file.parent_path().string() + "': " + error.message(),
                   "make the folder that it is in writable, or free some space on its disk");
  const auto tell = [&](const std::string& holder) {
    progress.on_event(Warning{"waiting for another run of this kernel (" + holder + ")"});
  };
  return util::FileLock::acquire(file, "tuning " + context.request.kernel, tell, interrupted);
}

void demand_live_tunables(const build_step::KernelContext& context) {
  Candidate candidate{context.source_text, {}, "baseline", {}};
  for (const Tunable& tunable : context.spec.tunables) candidate.tunables[tunable.name] = tunable.values.front();
  for (const gate::Rejection& rejection :
       gate::inspect(candidate, context.source_text, context.spec, context.request.language))
    throw UserError(fmt::format("{}:{}: {}", context.request.source.string(), rejection.line, rejection.message),
                    "correct the source; candidates are made of it, and the gate refuses them all");
}

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
