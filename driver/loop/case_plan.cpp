// SPDX-License-Identifier: Apache-2.0
#include "loop/case_plan.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/core.h>

namespace kagent::loop {
namespace {

using std::chrono::nanoseconds;

// A sample shorter than this drowns in what reading the clock and being woken cost; a longer one is more often hit by
// something else on the machine, which many short ones bear better than few long ones.
constexpr nanoseconds kSampleTime{500'000};
// The runner has 64 slots, and a sample uses each of its own once: a second call on the same contents could be answered
// from memory. Kernels under about 16 us are therefore sampled for less than kSampleTime.
constexpr int kMostRepetitions = 32;
// Sweeping the caches before each call is what a kernel sees in the middle of a program, but it takes its time. Where
// it takes more than this multiple of the call, the kernel is measured warm, as in a loop: swept, a call of some
// microseconds is mostly cache misses, whose noise would hide any gain.
constexpr double kSweepShare = 10;
constexpr std::int64_t kSlotMemoryBytes = std::int64_t{512} << 20;
// Fresh contents of every call of a sample go to the device, and to two processes: where they are large that takes a
// hundred times as long as the calls. More blocks in the same time tell as much as longer samples.
constexpr std::int64_t kMostBytesSent = std::int64_t{64} << 20;
constexpr int kProbes = 3;
// Launching takes some microseconds: kernels below this are timed as a graph of calls (a graph of 100 launches of
// a tiny kernel is steady to 1 %, single ones to 6 %).
constexpr nanoseconds kLaunchBound{20'000};

// The fastest of a few calls, and what its sample took beyond the call itself.
struct Probe {
  nanoseconds call{0};
  nanoseconds overhead{0};
};

Sampled<Probe> probe(runner::Session& incumbent, const std::string& case_name, bool cold) {
  Probe best{nanoseconds::max(), nanoseconds::max()};
  for (int i = 0; i < kProbes; ++i) {
    auto step =
        of_incumbent(incumbent.sample({.slots = {0}, .repetitions = 1, .cold = cold, .poison = 0x5A}), case_name);
    if (!step) return std::unexpected(step.error());
    best.call = std::min(best.call, step->child_time);
    best.overhead = std::min(best.overhead, step->driver_time - step->child_time);
  }
  return best;
}

}  // namespace

Sampled<RunResult> of_incumbent(Result<RunResult> step, const std::string& case_name) {
  if (!step) return std::unexpected(Stop::machine(step.error()));
  if (step->outcome != Outcome::ok)
    return std::unexpected(Stop::machine({fmt::format("the incumbent failed while it was measured on case {}: {} ({})",
                                                      case_name, name(step->outcome), step->detail),
                                          "run 'kagent verify' on the kernel"}));
  return std::move(*step);
}

Sampled<CasePlan> plan_case(const KernelSpec& spec, const Case& timed, runner::Session& incumbent,
                            FreshContents& contents, MeasuredOn device) {
  CasePlan plan{.timed = &timed};
  auto inputs = contents.next();
  if (!inputs) return std::unexpected(Stop::machine(inputs.error()));
  const auto bytes = buffer_bytes(spec, timed);
  if (!bytes) return std::unexpected(Stop::machine(bytes.error()));
  if (auto step = of_incumbent(incumbent.prepare(0, **inputs, {}), timed.name); !step)
    return std::unexpected(step.error());
  const auto warm = probe(incumbent, timed.name, false);
  if (!warm) return std::unexpected(warm.error());
  const auto cold = probe(incumbent, timed.name, true);
  if (!cold) return std::unexpected(cold.error());
  if (auto step = of_incumbent(incumbent.release(0), timed.name); !step) return std::unexpected(step.error());

  const nanoseconds sweep = cold->overhead - warm->overhead;
  if (device == MeasuredOn::gpu)
    plan.cold = spec.goal.decided_by == CacheState::cold;
  else
    plan.cold = static_cast<double>(sweep.count()) <= kSweepShare * static_cast<double>(cold->call.count());
  const nanoseconds call = std::max(plan.cold ? cold->call : warm->call, nanoseconds(1));
  const auto calls_within = [](std::int64_t most, std::int64_t of_call) {
    return std::max<std::int64_t>(most / std::max<std::int64_t>(of_call, 1), 1);
  };
  const auto memory = calls_within(kSlotMemoryBytes, *bytes);
  const auto sent = device == MeasuredOn::gpu ? calls_within(kMostBytesSent, input_bytes(**inputs)) : memory;
  const auto wanted = kSampleTime / call + (kSampleTime % call == nanoseconds(0) ? 0 : 1);
  plan.repetitions =
      static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::min<std::int64_t>({kMostRepetitions, memory, sent})));
  plan.graph = device == MeasuredOn::gpu && !plan.cold && call < kLaunchBound;
  plan.slots = static_cast<int>(std::clamp<std::int64_t>(memory, plan.repetitions, 2 * plan.repetitions));
  return plan;
}

Sampled<std::vector<CasePlan>> plan_cases(const KernelSpec& spec, runner::Session& incumbent,
                                          std::vector<FreshContents>& contents, MeasuredOn device) {
  std::vector<CasePlan> plans;
  for (const Case& timed : spec.cases) {
    if (!timed.timed) continue;
    auto plan = plan_case(spec, timed, incumbent, contents[plans.size()], device);
    if (!plan) return std::unexpected(plan.error());
    plans.push_back(*plan);
  }
  return plans;
}

Result<std::vector<FreshContents>> contents_of_timed_cases(const KernelSpec& spec, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<FreshContents> contents;
  for (const Case& timed : spec.cases) {
    if (!timed.timed) continue;
    auto made = FreshContents::make(spec, timed, random());
    if (!made) return std::unexpected(made.error());
    contents.push_back(std::move(*made));
  }
  return contents;
}

}  // namespace kagent::loop
