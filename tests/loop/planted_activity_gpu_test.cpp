// SPDX-License-Identifier: Apache-2.0

// On a real GPU, as if its counters could not be read: what calls are seen to do there makes the summary.

#include <algorithm>

#include "loop/counted_kernels.h"
#include "profiler/bottleneck.h"

namespace kagent::loop {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::Field;
using testing::HasSubstr;
using testing::StartsWith;

class PlantedActivity : public CountedKernels<> {
 protected:
  // Times and traces the call, a process each, as the loop does where the counters are withheld.
  Bottleneck summary(const Binary& binary, const std::vector<Parameter>& parameters, const CallInputs& inputs,
                     const KernelSpec& spec = {}) {
    profiler::Observed observed;
    observed.sizes = inputs.sizes;
    observed.device = device_;
    observed.counters_problem = "the counters are withheld";
    for (const bool traces : {false, true}) {
      const auto session = start(binary, parameters);
      if (!session) return {};
      EXPECT_THAT(runner::done(session->prepare(0, inputs, {})), runner::IsOk());
      if (traces) {
        observed.trace = session->trace(0).value_or(KernelTrace{});
      } else {
        // Work that goes on beside the call makes no sample.
        const auto sample = runner::done(session->sample({.slots = {0}}));
        observed.time_ns = sample.outcome == Outcome::ok ? static_cast<double>(sample.child_time.count()) : 1000;
      }
    }
    const auto bottleneck = profiler::summarise(spec, observed, {.flops_per_s = 60e12, .bytes_per_s = 4e12});
    EXPECT_TRUE(bottleneck) << bottleneck.error().message;
    if (!bottleneck) return {};
    for (const std::string& kernel : bottleneck->kernels) std::printf("%s\n", kernel.c_str());
    for (const Pattern& pattern : bottleneck->patterns)
      std::printf("%s: %s\n", pattern.name.c_str(), pattern.evidence.c_str());
    return *bottleneck;
  }
  Bottleneck of_kernel(const std::string& name, const std::string& grid, const std::string& block, int n,
                       const KernelSpec& spec = {}) {
    return summary(counted(KAGENT_COUNTED_KERNELS, name, grid, block), counted_parameters(), counted_inputs(n), spec);
  }
  Bottleneck of_launcher(int mode, int n) {
    return summary({KAGENT_CUDA_LAUNCHER, "", ""}, runner::launcher_parameters(), runner::call_inputs(n, mode));
  }
  static double value(const Bottleneck& bottleneck, const std::string& name) {
    const auto metric = std::ranges::find(bottleneck.metrics, name, &Metric::name);
    return metric == bottleneck.metrics.end() ? -1 : metric->value;
  }
};

TEST_F(PlantedActivity, names_the_kernel_that_takes_the_time_of_a_call) {
  const Bottleneck bottleneck = of_launcher(kTakesTime, 2'000'000);
  EXPECT_EQ(bottleneck.tier, "activity") << bottleneck.tier_reason;
  EXPECT_EQ(bottleneck.tier_reason, "the counters are withheld");
  ASSERT_EQ(bottleneck.kernels.size(), 2U);
  EXPECT_THAT(bottleneck.kernels[0], HasSubstr("::wait: "));
  EXPECT_THAT(bottleneck.kernels[1], HasSubstr("::scale: "));
  EXPECT_THAT(bottleneck.time, EndsWith("::wait"));
  EXPECT_EQ(value(bottleneck, "kernels"), 2);
  EXPECT_GT(value(bottleneck, "longest_kernel_pct"), 90);
  EXPECT_GT(value(bottleneck, "busy_us"), 1800);
}

TEST_F(PlantedActivity, shows_a_grid_that_leaves_most_of_the_device_empty) {
  const Bottleneck bottleneck = of_kernel("tail_effect", "8", "256", 1 << 20);
  EXPECT_EQ(bottleneck.tier, "activity") << bottleneck.tier_reason;
  EXPECT_THAT(bottleneck.patterns, Contains(Field(&Pattern::name, "few-blocks")));
  ASSERT_EQ(bottleneck.kernels.size(), 1U);
  EXPECT_THAT(bottleneck.kernels[0], StartsWith("tail_effect: 100 %"));
}

TEST_F(PlantedActivity, tells_the_share_of_the_memory_roof_while_the_device_works) {
  KernelSpec spec;
  spec.bytes = *Expression::parse("8*n");
  const Bottleneck bottleneck = of_kernel("at_memory_bandwidth", "2112", "512", 1 << 28, spec);
  EXPECT_EQ(bottleneck.tier, "activity") << bottleneck.tier_reason;
  EXPECT_GT(value(bottleneck, "busy_roof_memory_pct"), 0);
  EXPECT_NEAR(value(bottleneck, "busy_us") / value(bottleneck, "time_us"), 1, 0.2)
      << "the trace and the events are of the same work";
}

TEST_F(PlantedActivity, tells_of_work_that_the_events_do_not_see) {
  const Bottleneck bottleneck = of_launcher(kOtherStream, 1000);
  EXPECT_EQ(bottleneck.tier, "activity") << bottleneck.tier_reason;
  EXPECT_THAT(bottleneck.patterns, Contains(Field(&Pattern::name, "work-outside-the-call")));
}

}  // namespace
}  // namespace kagent::loop
