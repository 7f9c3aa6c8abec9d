// SPDX-License-Identifier: Apache-2.0
#include "loop/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "store/profile_record.h"
#include "toolchain/machine.h"
#include "util/files.h"

namespace kagent::loop {
namespace {

using store::ProfileRecord;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class Analysis : public testing::Test {
 protected:
  Analysis() {
    spec_.flops = *Expression::parse("n");
    spec_.bytes = *Expression::parse("8*n");
    Case timed;
    timed.name = "large";
    timed.sizes = {{"n", 1 << 20}};
    timed.timed = true;
    spec_.cases.push_back(timed);
    nlohmann::json ceilings;
    for (const std::string& device : {std::string("a GPU"), toolchain::machine_description()})
      ceilings[device] = {{"flops_per_s", 6e13},
                          {"bytes_per_s", 4e12},
                          {"half_flops_per_s", 1.2e14},
                          {"tensor_flops_per_s", 7e14},
                          {"launch_s", 2e-6}};
    EXPECT_TRUE(util::write_file_atomically(folder_.path() / "ceilings.json", ceilings.dump()));
  }

  AnalysisInput input(Language language) const {
    return {spec_, language, nullptr, times_, folder_.path(), "a GPU", {}, folder_.path() / "profile.json"};
  }
  void keep(const ProfileRecord& record) const { store::write_profile(folder_.path() / "profile.json", record); }

  const util::TemporaryFolder folder_{"analysis"};
  KernelSpec spec_;
  const std::vector<CaseTimes> times_{{"large", 1, 0, 50'000}};
};

// As of a GPU whose profiler may not be read, on a machine with a disassembler.
ProfileRecord without_counters() {
  ProfileRecord record;
  record.cases["large"].problem = "the profiler needs permission";
  record.usage = {
      {.kernel = "k", .registers = 40, .shared_bytes = 2048, .spill_store_bytes = 8, .spill_load_bytes = 8}};
  record.device.registers_per_multiprocessor = 65536;
  record.device.threads_per_multiprocessor = 2048;
  record.device.shared_bytes_per_multiprocessor = 233472;
  record.code.numbers = {{"load_bits", 32}, {"wide_loads", 0}};
  record.code.text = "20 instructions: 100 % memory";
  record.code.lines = {"line 3: 20 instructions"};
  return record;
}

TEST_F(Analysis, of_device_code_without_counters_tells_what_the_code_shows_and_why_no_more) {
  keep(without_counters());
  const auto bottlenecks = analyse(input(Language::cuda));
  ASSERT_TRUE(bottlenecks) << bottlenecks.error().message;
  ASSERT_EQ(bottlenecks->size(), 1U);
  const Bottleneck& one = bottlenecks->front();
  EXPECT_EQ(one.tier, "static");
  EXPECT_EQ(one.tier_reason, "the profiler needs permission");
  EXPECT_EQ(one.code, "20 instructions: 100 % memory");
  EXPECT_THAT(one.code_reason, IsEmpty());
  EXPECT_THAT(one.lines, ElementsAre("line 3: 20 instructions"));
  EXPECT_THAT(one.patterns, Contains(Field(&Pattern::name, "narrow-loads-in-code")));
  EXPECT_THAT(one.patterns, Contains(Field(&Pattern::name, "spills-in-code")));
}

TEST_F(Analysis, of_device_code_without_counters_takes_what_the_device_was_seen_to_do) {
  ProfileRecord record = without_counters();
  record.cases["large"].trace.work = {
      {WorkKind::kernel, "first", 0, 10'000, {100, 1, 1}, {256, 1, 1}, {}, 32, 0, 0, 0},
      {WorkKind::kernel, "second", 11'000, 41'000, {100, 1, 1}, {128, 1, 1}, {}, 64, 0, 0, 0}};
  keep(record);
  const auto bottlenecks = analyse(input(Language::cuda));
  ASSERT_TRUE(bottlenecks) << bottlenecks.error().message;
  const Bottleneck& one = bottlenecks->front();
  EXPECT_EQ(one.tier, "activity");
  EXPECT_EQ(one.tier_reason, "the profiler needs permission");
  ASSERT_EQ(one.kernels.size(), 2U);
  EXPECT_THAT(one.kernels[0], testing::StartsWith("second: 75 % of the time on the device, 30 us"));
  EXPECT_EQ(one.code, "20 instructions: 100 % memory") << "what the code shows is told as well";
  EXPECT_THAT(profiled_numbers(input(Language::cuda)), Contains(Pair("large/registers", 64)));
  record.cases["large"].trace = {{}, 0, "there is no CUPTI"};
  keep(record);
  EXPECT_EQ(analyse(input(Language::cuda))->front().tier, "static");
  EXPECT_EQ(analyse(input(Language::cuda))->front().tier_reason, "the profiler needs permission; there is no CUPTI");
}

TEST_F(Analysis, of_device_code_that_nobody_looked_at_says_so) {
  const auto bottlenecks = analyse(input(Language::cuda));
  ASSERT_TRUE(bottlenecks) << bottlenecks.error().message;
  EXPECT_EQ(bottlenecks->front().tier, "time");
  EXPECT_EQ(bottlenecks->front().tier_reason, "it was not profiled");
  EXPECT_EQ(bottlenecks->front().code_reason, "it was not profiled");
}

TEST_F(Analysis, widths_in_the_code_tell_uncoalesced_accesses_from_wide_ones) {
  ProfileRecord record = without_counters();
  record.cases["large"] = {50'000,
                           {{{"gpu__time_duration.sum", 50'000},
                             {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 16}}},
                           "",
                           {}};
  keep(record);
  const auto narrow = analyse(input(Language::cuda));
  EXPECT_EQ(narrow->front().tier, "counters");
  EXPECT_THAT(narrow->front().patterns, Contains(Field(&Pattern::name, "partly-coalesced-loads")));
  record.code.numbers = {{"load_bits", 128}, {"wide_loads", 1}};
  keep(record);
  EXPECT_THAT(analyse(input(Language::cuda))->front().patterns,
              testing::Not(Contains(Field(&Pattern::name, "partly-coalesced-loads"))));
}

TEST_F(Analysis, of_host_code_takes_the_processors_counters) {
  ProfileRecord record;
  record.cases["large"].kernels = {{{"cycles", 1000}, {"instructions", 500}, {"task-clock", 100'000}}};
  keep(record);
  const auto bottlenecks = analyse(input(Language::cxx));
  ASSERT_TRUE(bottlenecks) << bottlenecks.error().message;
  EXPECT_EQ(bottlenecks->front().tier, "counters");
  EXPECT_EQ(bottlenecks->front().limited_by, "latency");
  EXPECT_THAT(profiled_numbers(input(Language::cxx)),
              UnorderedElementsAre(Pair("large/instructions_per_cycle", 0.5), Pair("large/processors_busy", 2)));
}

TEST_F(Analysis, of_host_code_without_counters_tells_time_and_why_no_more) {
  ProfileRecord record;
  record.cases["large"].problem = "the processor shows no counters here";
  keep(record);
  const auto bottlenecks = analyse(input(Language::cxx));
  EXPECT_EQ(bottlenecks->front().tier, "time");
  EXPECT_EQ(bottlenecks->front().tier_reason, "the processor shows no counters here");
  EXPECT_THAT(profiled_numbers(input(Language::cxx)), IsEmpty()) << "times are no counters";
}

TEST_F(Analysis, evidence_has_a_profiles_numbers_by_case) {
  keep(without_counters());
  const auto numbers = profiled_numbers(input(Language::cuda));
  EXPECT_THAT(numbers, Contains(Pair("large/registers", 40)));
  EXPECT_THAT(numbers, Contains(Pair("large/spill_bytes", 16)));
  EXPECT_THAT(numbers, Contains(Pair("large/load_bits", 32)));
  EXPECT_FALSE(numbers.contains("large/time_us"));
}

}  // namespace
}  // namespace kagent::loop
