// SPDX-License-Identifier: Apache-2.0
#include "loop/device_profile.h"

#include <algorithm>

#include "profiler/counters.h"
#include "spec/spec.h"
#include "store/profile_record.h"

namespace kagent::loop {
namespace {

// The fastest of a few cold calls, and the counters of one more.
store::ProfileRecord::OfCase profile_case(runner::Session& session, const KernelSpec& spec, const Case& timed) {
  constexpr int kCalls = 5;
  store::ProfileRecord::OfCase seen;
  const auto fails = [&seen](const auto& step, const RunResult* result) {
    if (!step)
      seen.problem = step.error().message;
    else if (result->outcome != Outcome::ok)
      seen.problem = result->detail;
    return !seen.problem.empty();
  };
  const auto inputs = spec::generate_inputs(spec, timed, secret_seed());
  if (!inputs) {
    seen.problem = inputs.error().message;
    return seen;
  }
  const auto ready = session.prepare(0, *inputs, {});
  if (fails(ready, ready ? &*ready : nullptr)) return seen;
  for (int i = 0; i < kCalls; ++i) {
    const auto sample = session.sample({.slots = {0}, .repetitions = 1, .cold = true});
    if (fails(sample, sample ? &*sample : nullptr)) return seen;
    const auto time = static_cast<double>(sample->child_time.count());
    seen.time_ns = i == 0 ? time : std::min(seen.time_ns, time);
  }
  auto counters = session.count(0, profiler::wanted_counters());
  if (!counters) {
    seen.problem = counters.error().message;
    return seen;
  }
  seen.kernels = std::move(counters->kernels);
  seen.problem = std::move(counters->problem);
  return seen;
}

}  // namespace

void profile_on_device(Workbench& bench, const Binary& binary, const std::string& candidate_hash) {
  const auto& gpu = bench.platform().gpu;
  if (!gpu) return;
  const auto file = store::profile_file(bench.options().state_folder, bench.context().request.kernel,
                                        bench.context().architecture, candidate_hash);
  const auto known = store::read_profile(file);
  const auto lacks_counters = [](const auto& entry) { return !entry.second.problem.empty(); };
  if (known && std::ranges::none_of(known->cases, lacks_counters)) return;
  const auto lane = MeasuringLane::enter_device(gpu->uuid, {}, "profiling " + bench.spec().kernel, {}, {});
  if (!lane) return;
  store::ProfileRecord record;
  record.usage = binary.device_usage;
  record.device = *gpu;
  for (const Case& timed : bench.built_spec().cases) {
    if (!timed.timed) continue;
    // A process each: the profiler changes what comes after it.
    runner::RunnerLimits limits = bench.limits();
    limits.reads_counters = true;
    auto session = bench.runner().start(binary, bench.built_spec().parameters, limits);
    if (!session) return;
    record.cases[timed.name] = profile_case(**session, bench.built_spec(), timed);
  }
  store::write_profile(file, record);
}

}  // namespace kagent::loop
