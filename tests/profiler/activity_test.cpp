// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/bottleneck.h"
#include "profiler/example.h"

namespace kagent::profiler {
namespace {

using example::h200;
using example::streaming_spec;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr Ceilings kCeilings{.flops_per_s = 60e12, .bytes_per_s = 4e12};

TracedWork kernel(const std::string& name, std::int64_t begin, std::int64_t end, std::int64_t blocks = 132) {
  return {WorkKind::kernel, name, begin, end, {blocks, 1, 1}, {256, 1, 1}, {}, 32, 0, 0, 0};
}
TracedWork copy(std::int64_t begin, std::int64_t end) {
  TracedWork work;
  work.kind = WorkKind::copy;
  work.name = "copy";
  work.begin_ns = begin;
  work.end_ns = end;
  return work;
}
KernelTrace trace_of(std::vector<TracedWork> work, double event_ns = 0) {
  return {std::move(work), event_ns, ""};
}

// 800 MB, in a call of 400 us.
Observed streaming(KernelTrace trace) {
  Observed observed;
  observed.case_name = "large";
  observed.sizes = {{"n", 100'000'000}};
  observed.time_ns = 400'000;
  observed.device = h200();
  observed.counters_problem = "no permission for counters";
  observed.trace = std::move(trace);
  return observed;
}
double value(const Bottleneck& bottleneck, const std::string& name) {
  const auto metric = std::ranges::find(bottleneck.metrics, name, &Metric::name);
  return metric == bottleneck.metrics.end() ? -1 : metric->value;
}

Numbers seen_of(const KernelTrace& trace) {
  return numbers_of(trace, shares_of(trace));
}

TEST(Activity, launches_of_one_kernel_in_one_shape_are_told_together_the_longest_first) {
  const auto shares =
      shares_of(trace_of({kernel("sum", 0, 10'000), kernel("scale", 10'000, 40'000), kernel("sum", 40'000, 60'000),
                          copy(60'000, 80'000), kernel("sum", 80'000, 90'000, 264)}));
  ASSERT_EQ(shares.size(), 4U);
  EXPECT_EQ(shares[0].work.name, "sum");
  EXPECT_EQ(shares[0].launches, 2);
  EXPECT_EQ(shares[0].time_ns, 30'000);
  EXPECT_DOUBLE_EQ(shares[0].share, 3.0 / 9);
  EXPECT_EQ(shares[1].work.name, "scale");
  EXPECT_EQ(shares[2].work.name, "copy");
  EXPECT_EQ(shares[3].work.grid[0], 264);
  EXPECT_EQ(longest_kernel(shares)->work.name, "sum");
  EXPECT_FALSE(longest_kernel(shares_of(trace_of({copy(0, 10)}))));
  EXPECT_THAT(shares_of({}), IsEmpty());
}

TEST(Activity, time_in_several_streams_at_once_is_counted_once_and_gaps_are_told) {
  const Numbers numbers = seen_of(trace_of(
      {kernel("a", 0, 30'000), kernel("b", 10'000, 20'000), kernel("c", 25'000, 40'000), kernel("d", 60'000, 80'000)}));
  EXPECT_DOUBLE_EQ(numbers.at("kernels"), 4);
  EXPECT_DOUBLE_EQ(numbers.at("busy_us"), 60);
  EXPECT_DOUBLE_EQ(numbers.at("idle_between_pct"), 25);
  EXPECT_DOUBLE_EQ(numbers.at("longest_kernel_pct"), 40);
  EXPECT_FALSE(numbers.contains("transfers_pct"));
  EXPECT_THAT(seen_of({}), IsEmpty());
  const Numbers one = seen_of(trace_of({kernel("a", 0, 30'000)}));
  EXPECT_FALSE(one.contains("idle_between_pct"));
  EXPECT_FALSE(one.contains("longest_kernel_pct"));
  EXPECT_DOUBLE_EQ(seen_of(trace_of({kernel("a", 0, 0)})).at("busy_us"), 0) << "shorter than a tick";
}

TEST(Activity, copies_between_kernels_are_no_gaps) {
  const Numbers numbers = seen_of(trace_of({kernel("a", 0, 30'000), copy(30'000, 40'000)}));
  EXPECT_DOUBLE_EQ(numbers.at("idle_between_pct"), 0);
  EXPECT_DOUBLE_EQ(numbers.at("transfers_pct"), 25);
  EXPECT_DOUBLE_EQ(numbers.at("kernels"), 1);
}

TEST(Activity, without_counters_makes_a_better_summary_than_the_code_alone) {
  Observed observed = streaming(trace_of({kernel("first", 0, 50'000), kernel("second", 51'000, 250'000, 132 * 10)}));
  observed.usage = {{.kernel = "first", .registers = 100}};
  const Bottleneck bottleneck = summarise(streaming_spec(), observed, kCeilings).value();
  EXPECT_EQ(bottleneck.tier, "activity");
  EXPECT_EQ(bottleneck.tier_reason, "no permission for counters");
  // By the call's time it is at half of the roof, by the device's at four fifths.
  EXPECT_DOUBLE_EQ(bottleneck.roofline_share.value(), 0.5);
  EXPECT_NEAR(value(bottleneck, "busy_roof_memory_pct"), 80.3, 0.1);
  EXPECT_EQ(bottleneck.limited_by, "memory bandwidth");
  EXPECT_EQ(bottleneck.time, "mostly in second");
  EXPECT_EQ(value(bottleneck, "registers"), 32) << "of the kernel that takes the time";
  // Eight blocks of 256 threads on each of 132.
  EXPECT_EQ(value(bottleneck, "waves"), 1.25);
  EXPECT_EQ(value(bottleneck, "tail_pct"), 37.5);
  EXPECT_THAT(bottleneck.patterns, Contains(Field(&Pattern::name, "last-wave-part-filled")));
  EXPECT_THAT(bottleneck.kernels,
              ElementsAre("second: 80 % of the time on the device, 199 us; grid 1320x1x1 of 256x1x1 threads, 32 "
                          "registers, 100 % occupancy, 1.25 waves",
                          StartsWith("first: 20 % of the time on the device, 50 us; grid 132x1x1")));
}

TEST(Activity, that_is_mostly_gaps_is_limited_by_launches) {
  const Observed observed =
      streaming(trace_of({kernel("a", 0, 4000), kernel("b", 20'000, 24'000), kernel("a", 40'000, 44'000)}));
  const Bottleneck bottleneck = summarise({}, observed, kCeilings).value();
  EXPECT_EQ(bottleneck.limited_by, "launches");
  EXPECT_EQ(bottleneck.time, "between kernels");
  EXPECT_THAT(bottleneck.patterns, Contains(Field(&Pattern::name, "gaps-between-kernels")));
}

TEST(Activity, beside_counters_names_the_kernels_and_leaves_what_they_count) {
  Observed observed = streaming(trace_of({kernel("a", 0, 300'000), kernel("b", 300'000, 390'000)}));
  observed.counters_problem.clear();
  observed.kernels = {{{"gpu__time_duration.sum", 300'000},
                       {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 88},
                       {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 99}}};
  const Bottleneck bottleneck = summarise(streaming_spec(), observed, kCeilings).value();
  EXPECT_EQ(bottleneck.tier, "counters");
  EXPECT_THAT(bottleneck.tier_reason, IsEmpty());
  EXPECT_EQ(bottleneck.limited_by, "memory bandwidth");
  EXPECT_EQ(bottleneck.kernels.size(), 2U);
  EXPECT_EQ(value(bottleneck, "waves"), -1) << "what is counted says more";
  EXPECT_EQ(value(bottleneck, "busy_roof_memory_pct"), -1);
  EXPECT_EQ(value(bottleneck, "kernels"), 1) << "as many as were counted";
}

TEST(Activity, that_the_calls_events_do_not_see_is_told) {
  const KernelTrace aside = trace_of({kernel("aside", 0, 500'000), kernel("own", 0, 20'000)}, 21'000);
  const auto patterns = summarise({}, streaming(aside), kCeilings)->patterns;
  const auto found = std::ranges::find(patterns, "work-outside-the-call", &Pattern::name);
  ASSERT_NE(found, patterns.end());
  EXPECT_THAT(found->evidence, HasSubstr("500 us for a call, 479 us more"));
  // Events take a little longer than what lies between them; two clocks differ by a little.
  for (const double events : {21'000.0, 19'500.0, 0.0})
    EXPECT_THAT(summarise({}, streaming(trace_of({kernel("own", 0, 20'000)}, events)), kCeilings)->patterns,
                Not(Contains(Field(&Pattern::name, "work-outside-the-call"))))
        << events;
}

TEST(Activity, that_was_not_seen_leaves_the_tier_below_with_both_reasons) {
  Observed observed = streaming({});
  observed.trace.problem = "there is no libcupti.so.13";
  EXPECT_EQ(summarise({}, observed, kCeilings)->tier, "time");
  EXPECT_EQ(summarise({}, observed, kCeilings)->tier_reason, "no permission for counters; there is no libcupti.so.13");
  observed.usage = {{.kernel = "k", .registers = 40}};
  EXPECT_EQ(summarise({}, observed, kCeilings)->tier, "static");
  observed.counters_problem = observed.trace.problem;
  EXPECT_EQ(summarise({}, observed, kCeilings)->tier_reason, "there is no libcupti.so.13") << "told once";
}

TEST(Activity, of_many_kernels_is_told_by_the_longest) {
  std::vector<TracedWork> work;
  for (int i = 0; i < 20; ++i) work.push_back(kernel("k" + std::to_string(i), i * 1000, i * 1000 + 10 * (i + 1)));
  const auto lines = lines_of(shares_of(trace_of(work)), std::nullopt);
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_THAT(lines.front(), StartsWith("k19: "));
  EXPECT_EQ(lines.back(), "and 12 more");
}

TEST(Activity, lines_tell_of_a_launch_what_it_asks_for) {
  TracedWork one = kernel("tile<4>", 0, 2000);
  one.cluster = {2, 1, 1};
  one.static_shared_bytes = 1024;
  one.dynamic_shared_bytes = 100'000;
  one.local_bytes = 48;
  EXPECT_THAT(
      lines_of(shares_of(trace_of({one, one, one})), h200()),
      ElementsAre("tile<4>: 100 % of the time on the device, 6 us in 3 launches; grid 132x1x1 of 256x1x1 threads, "
                  "32 registers, clusters of 2x1x1, 101024 bytes of shared memory, 48 bytes of local memory a "
                  "thread, 25 % occupancy, 0.5 waves"));
}

}  // namespace
}  // namespace kagent::profiler
