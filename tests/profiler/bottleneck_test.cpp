// SPDX-License-Identifier: Apache-2.0
#include "profiler/bottleneck.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/example.h"

namespace kagent::profiler {
namespace {

using example::streaming_spec;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr Ceilings kCeilings{.flops_per_s = 60e12, .bytes_per_s = 4e12, .launch_s = 3e-6};

// 800 MB in 400 us: half of what the memory can do.
Observed streaming() {
  Observed observed;
  observed.case_name = "large";
  observed.sizes = {{"n", 100'000'000}};
  observed.time_ns = 400'000;
  return observed;
}

TEST(Bottleneck, time_and_work_alone_give_the_place_under_the_roof) {
  Observed observed = streaming();
  observed.time_ns = 220'000;
  observed.counters_problem = "no permission";
  const Bottleneck bottleneck = summarise(streaming_spec(), observed, kCeilings).value();
  EXPECT_EQ(bottleneck.tier, "time");
  EXPECT_EQ(bottleneck.tier_reason, "no permission");
  EXPECT_NEAR(bottleneck.roofline_share.value(), 0.909, 0.001);
  EXPECT_EQ(bottleneck.limited_by, "memory bandwidth");
}

TEST(Bottleneck, far_from_both_roofs_nothing_is_claimed_without_counters) {
  const Bottleneck bottleneck = summarise(streaming_spec(), streaming(), kCeilings).value();
  EXPECT_EQ(bottleneck.limited_by, "not known");
  EXPECT_EQ(bottleneck.time, "not known");
}

TEST(Bottleneck, counters_name_the_busiest_resource_or_the_longest_wait) {
  Observed busy = streaming();
  busy.kernels = {{{"gpu__time_duration.sum", 400'000},
                   {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 40},
                   {"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", 88}}};
  EXPECT_EQ(summarise(streaming_spec(), busy, kCeilings)->limited_by, "fp32 arithmetic");

  Observed waiting = streaming();
  waiting.kernels = {{{"gpu__time_duration.sum", 400'000},
                      {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 30},
                      {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 15},
                      {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 12},
                      {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 1}}};
  const Bottleneck bottleneck = summarise(streaming_spec(), waiting, kCeilings).value();
  EXPECT_EQ(bottleneck.tier, "counters");
  EXPECT_EQ(bottleneck.limited_by, "latency");
  EXPECT_EQ(bottleneck.space, "device memory");
  EXPECT_THAT(bottleneck.patterns, Contains(Field(&Pattern::name, "latency-bound")));
}

TEST(Bottleneck, traffic_is_held_against_the_bytes_that_the_operation_needs) {
  Observed observed = streaming();
  observed.kernels = {{{"gpu__time_duration.sum", 400'000},
                       {"dram__bytes_read.sum", 1.6e9},
                       {"dram__bytes_write.sum", 0.8e9},
                       {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 80}}};
  const Bottleneck bottleneck = summarise(streaming_spec(), observed, kCeilings).value();
  const auto metric = std::ranges::find(bottleneck.metrics, "traffic_ratio", &Metric::name);
  ASSERT_NE(metric, bottleneck.metrics.end());
  EXPECT_NEAR(metric->value, 3, 1e-9);
  EXPECT_THAT(bottleneck.patterns, Contains(Field(&Pattern::name, "excess-traffic")));
}

// The peak is out of reach even for a copy: at 2.4 GB in 1 ms of 2.5 TB/s nothing more is to be had.
TEST(Bottleneck, memory_is_as_busy_as_what_it_moves_against_a_copy) {
  Observed observed = streaming();
  observed.kernels = {{{"gpu__time_duration.sum", 1'000'000},
                       {"dram__bytes_read.sum", 1.6e9},
                       {"dram__bytes_write.sum", 0.8e9},
                       {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 80}}};
  Ceilings ceilings = kCeilings;
  ceilings.bytes_per_s = 2.5e12;
  const Bottleneck bottleneck = summarise(streaming_spec(), observed, ceilings).value();
  const auto metric = std::ranges::find(bottleneck.metrics, "memory_pct", &Metric::name);
  ASSERT_NE(metric, bottleneck.metrics.end());
  EXPECT_NEAR(metric->value, 96, 1e-9);
  EXPECT_THAT(bottleneck.patterns, Contains(Field(&Pattern::name, "at-memory-bandwidth")));

  ceilings.bytes_per_s = 0;  // never measured
  const Bottleneck by_peak = summarise(streaming_spec(), observed, ceilings).value();
  EXPECT_THAT(by_peak.patterns, Not(Contains(Field(&Pattern::name, "at-memory-bandwidth"))));
}

TEST(Bottleneck, registers_bound_the_occupancy) {
  Observed observed = streaming();
  Device device;
  device.registers_per_multiprocessor = 65536;
  device.threads_per_multiprocessor = 2048;
  device.shared_bytes_per_multiprocessor = 233472;
  observed.device = device;
  // 255 registers take 8192 for a warp: 8 warps of 64.
  observed.usage = {{.kernel = "k", .registers = 255, .shared_bytes = 100'000}};
  const Bottleneck bottleneck = summarise(streaming_spec(), observed, kCeilings).value();
  EXPECT_EQ(bottleneck.tier, "static");
  const auto metric = std::ranges::find(bottleneck.metrics, "registers", &Metric::name);
  ASSERT_NE(metric, bottleneck.metrics.end());
  EXPECT_EQ(metric->value, 255);
}

TEST(Bottleneck, a_call_that_takes_little_more_than_launching_is_bound_by_it) {
  const auto patterns = [](double time_ns, const Ceilings& ceilings) {
    Observed observed = streaming();
    observed.sizes = {{"n", 100}};
    observed.time_ns = time_ns;
    return summarise(streaming_spec(), observed, ceilings).value().patterns;
  };
  const auto launch_bound = Contains(Field(&Pattern::name, "launch-bound"));
  EXPECT_THAT(patterns(4'000, kCeilings), launch_bound);
  EXPECT_THAT(patterns(4'000, kCeilings), Contains(Field(&Pattern::evidence, HasSubstr("takes 4 us, and 3 also"))));
  EXPECT_THAT(patterns(20'000, kCeilings), Not(launch_bound));
  EXPECT_THAT(patterns(4'000, {.flops_per_s = 60e12, .bytes_per_s = 4e12}), Not(launch_bound)) << "nothing is launched";
}

Observed host_call(const Numbers& numbers) {
  Observed observed = streaming();
  observed.others = numbers;
  return observed;
}

TEST(Bottleneck, the_processors_counters_name_what_host_code_waits_for) {
  const auto of = [](const Numbers& numbers) {
    return summarise(streaming_spec(), host_call(numbers), kCeilings).value();
  };
  const Numbers memory{{"instructions_per_cycle", 0.4}, {"cache_miss_share", 0.6}, {"cache_misses_per_kilo", 40}};
  EXPECT_EQ(of(memory).tier, "counters");
  EXPECT_EQ(of(memory).limited_by, "memory latency");
  EXPECT_EQ(of(memory).time, "waiting for memory");
  EXPECT_THAT(of(memory).patterns, Contains(Field(&Pattern::name, "cache-misses")));
  EXPECT_EQ(of({{"instructions_per_cycle", 0.8}, {"branch_misses_per_kilo", 30}}).limited_by, "branch mispredictions");
  EXPECT_EQ(of({{"instructions_per_cycle", 0.5}}).limited_by, "latency");
  EXPECT_EQ(of({{"instructions_per_cycle", 3.5}}).limited_by, "instruction issue");
  EXPECT_EQ(of({{"instructions_per_cycle", 1.7}}).limited_by, "not known");
}

TEST(Bottleneck, accesses_of_one_width_tell_whether_sectors_are_fetched_twice) {
  Observed observed = streaming();
  observed.device = Device{};
  observed.kernels = {{{"gpu__time_duration.sum", 400'000},
                       {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 17}}};
  observed.others = {{"uniform_load_bits", 128}, {"load_bits", 128}, {"wide_loads", 1}};
  EXPECT_THAT(summarise(streaming_spec(), observed, kCeilings)->patterns,
              Contains(Field(&Pattern::name, "unaligned-loads")));
  // Four floats each, from an aligned address.
  observed.kernels[0]["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"] = 16;
  EXPECT_THAT(summarise(streaming_spec(), observed, kCeilings)->patterns, IsEmpty());
  // As many sectors for one float each.
  observed.others = {{"uniform_load_bits", 32}, {"load_bits", 32}, {"wide_loads", 0}};
  EXPECT_THAT(summarise(streaming_spec(), observed, kCeilings)->patterns,
              Contains(Field(&Pattern::name, "partly-coalesced-loads")));
}

TEST(Bottleneck, the_launch_tells_how_many_blocks_are_there_at_once) {
  Observed observed = streaming();
  observed.device = Device{};
  observed.device->multiprocessors = 132;
  observed.device->registers_per_multiprocessor = 65536;
  observed.device->threads_per_multiprocessor = 2048;
  observed.device->shared_bytes_per_multiprocessor = 233472;
  observed.device->blocks_per_multiprocessor = 32;
  observed.usage = {{.kernel = "k", .registers = 64, .shared_bytes = 0}};
  // 64 registers allow 32 warps, which are four blocks of eight; 40 KiB and what is reserved allow five.
  observed.shape = LaunchShape{.block_threads = 256, .blocks = 132 * 4 * 3, .shared_bytes = 40 << 10};
  const Bottleneck bottleneck = summarise(streaming_spec(), observed, kCeilings).value();
  const auto value = [&bottleneck](const char* name) {
    const auto metric = std::ranges::find(bottleneck.metrics, name, &Metric::name);
    return metric == bottleneck.metrics.end() ? -1 : metric->value;
  };
  EXPECT_EQ(value("occupancy_pct"), 50);
  EXPECT_EQ(value("waves"), 3);
  EXPECT_EQ(value("shared_bytes"), 40 << 10);
}

TEST(Bottleneck, a_spec_without_work_has_no_place_under_the_roof) {
  const Bottleneck bottleneck = summarise(KernelSpec{}, streaming(), kCeilings).value();
  EXPECT_FALSE(bottleneck.roofline_share);
  EXPECT_THAT(bottleneck.patterns, IsEmpty());
  EXPECT_LE(bottleneck.metrics.size(), 28u);
}

}  // namespace
}  // namespace kagent::profiler
