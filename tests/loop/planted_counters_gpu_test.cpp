// SPDX-License-Identifier: Apache-2.0

// On a real GPU: kernels with one planted weakness each, counted as the loop counts them, show its pattern.

#include <algorithm>

#include "loop/counted_kernels.h"
#include "profiler/bottleneck.h"
#include "profiler/counters.h"

namespace kagent::loop {
namespace {

using testing::Contains;

struct Planted {
  const char* kernel;
  const char* pattern;
  const char* grid;
  const char* block;
  int n;
  profiler::Numbers code = {};  // what a disassembler would say
};

void PrintTo(const Planted& planted, std::ostream* stream) {
  *stream << planted.kernel;
}

class PlantedCounters : public CountedKernels<testing::TestWithParam<Planted>> {};

TEST_P(PlantedCounters, show_the_pattern) {
  const Planted& planted = GetParam();
  const CallInputs inputs = counted_inputs(planted.n);
  const auto session =
      start(counted(KAGENT_COUNTED_KERNELS, planted.kernel, planted.grid, planted.block), counted_parameters());
  ASSERT_TRUE(session);
  ASSERT_THAT(runner::done(session->prepare(0, inputs, {})), runner::IsOk());
  std::chrono::nanoseconds time = std::chrono::hours(1);
  for (int i = 0; i < 5; ++i) {
    const auto sample = runner::done(session->sample({.slots = {0}}));
    ASSERT_THAT(sample, runner::IsOk());
    time = std::min<std::chrono::nanoseconds>(time, sample.child_time);
  }
  const auto counters = session->count(0, profiler::wanted_counters());
  ASSERT_TRUE(counters) << counters.error().message;
  if (counters->kernels.empty()) GTEST_SKIP() << "no counters: " << counters->problem;

  profiler::Observed observed;
  observed.sizes = inputs.sizes;
  observed.time_ns = static_cast<double>(time.count());
  observed.device = device_;
  observed.kernels = counters->kernels;
  observed.others = planted.code;
  const auto rates = runner::measure_rates(runner::kernel_runner(), device_.uuid);
  ASSERT_TRUE(rates) << rates.error().message;
  const auto bottleneck =
      profiler::summarise({}, observed, {.flops_per_s = 60e12, .bytes_per_s = 4e12, .launch_s = rates->launch_s});
  ASSERT_TRUE(bottleneck) << bottleneck.error().message;
  EXPECT_EQ(bottleneck->tier, "counters");
  std::vector<std::string> names;
  for (const Pattern& pattern : bottleneck->patterns) {
    names.push_back(pattern.name);
    std::printf("%s: %s: %s\n", planted.kernel, pattern.name.c_str(), pattern.evidence.c_str());
  }
  EXPECT_THAT(names, Contains(std::string(planted.pattern)));
}

INSTANTIATE_TEST_SUITE_P(
    , PlantedCounters,
    testing::Values(Planted{"at_memory_bandwidth", "at-memory-bandwidth", "2112", "512", 1 << 28},
                    Planted{"uncoalesced_loads", "uncoalesced-loads", "ceil_div(n, 256)", "256", (1 << 24) + 1},
                    Planted{"uncoalesced_stores", "uncoalesced-stores", "ceil_div(n, 256)", "256", (1 << 24) + 1},
                    Planted{"unaligned_loads",
                            "unaligned-loads",
                            "ceil_div(n, 256)",
                            "256",
                            1 << 24,
                            {{"uniform_load_bits", 32}, {"load_bits", 32}, {"wide_loads", 0}}},
                    Planted{"bank_conflicts", "shared-bank-conflicts", "1056", "256", 1 << 20},
                    Planted{"register_spills", "register-spills", "1056", "256", 1 << 20},
                    Planted{"divergent", "divergent-warps", "ceil_div(n, 256)", "256", 1 << 20},
                    Planted{"barrier_stalls", "barrier-stalls", "528", "1024", 1 << 20},
                    Planted{"latency_bound", "latency-bound", "264", "32", 1 << 26},
                    Planted{"tail_effect", "tail-effect", "8", "256", 1 << 20},
                    Planted{"tail_effect", "low-occupancy", "132", "32", 1 << 20},
                    Planted{"at_memory_bandwidth", "launch-bound", "1", "32", 128},
                    Planted{"in_double", "fp64-in-the-way", "1056", "256", 1 << 20},
                    Planted{"fp32_pipe", "fp32-pipe-bound", "1056", "512", 1 << 20},
                    Planted{"fp32_pipe", "instruction-issue-bound", "1056", "512", 1 << 20}),
    [](const testing::TestParamInfo<Planted>& one) {
      std::string name = std::string(one.param.kernel) + "_is_" + one.param.pattern;
      std::ranges::replace(name, '-', '_');
      return name;
    });

}  // namespace
}  // namespace kagent::loop
