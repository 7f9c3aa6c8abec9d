// SPDX-License-Identifier: Apache-2.0
#include "proposer/architecture.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::proposer {
namespace {

using testing::HasSubstr;
using testing::Not;

ArchitectureFacts facts(const std::string& architecture) {
  auto found = architecture_facts(architecture);
  EXPECT_TRUE(found) << architecture;
  return found ? *found : ArchitectureFacts{};
}

// From the table 'Technical Specifications per Compute Capability' of the CUDA C++ Programming Guide 13.0, and from
// cuda_occupancy.h for what has no column there.
struct Documented {
  const char* architecture;
  double blocks, warps, shared_multiprocessor, shared_block, unified;
};
constexpr Documented kDocumented[] = {
    {"sm_75", 16, 32, 64, 64, 96},     {"sm_80", 32, 64, 164, 163, 192},  {"sm_86", 16, 48, 100, 99, 128},
    {"sm_87", 16, 48, 164, 163, 192},  {"sm_88", 16, 48, 100, 99, 128},   {"sm_89", 24, 48, 100, 99, 128},
    {"sm_90", 32, 64, 228, 227, 256},  {"sm_100", 32, 64, 228, 227, 256}, {"sm_103", 32, 64, 228, 227, 256},
    {"sm_110", 24, 48, 228, 227, 256}, {"sm_120", 24, 48, 100, 99, 128},  {"sm_121", 24, 48, 100, 99, 128}};

TEST(Architecture, has_the_documented_limits) {
  for (const Documented& known : kDocumented) {
    SCOPED_TRACE(known.architecture);
    std::map<std::string, double> numbers;
    for (const auto& number : facts(known.architecture).numbers) numbers[number.name] = number.value;
    EXPECT_EQ(numbers.at("blocks per multiprocessor"), known.blocks);
    EXPECT_EQ(numbers.at("warps per multiprocessor"), known.warps);
    EXPECT_EQ(numbers.at("threads per multiprocessor"), 32 * known.warps);
    EXPECT_EQ(numbers.at("shared memory per multiprocessor"), known.shared_multiprocessor);
    EXPECT_EQ(numbers.at("shared memory per block"), known.shared_block);
    EXPECT_EQ(numbers.at("L1 cache and shared memory together"), known.unified);
    EXPECT_EQ(numbers.at("registers per multiprocessor"), 65536);
    EXPECT_EQ(numbers.at("registers per thread"), 255);
    EXPECT_EQ(numbers.at("threads per block"), 1024);
    EXPECT_EQ(numbers.at("shared memory banks"), 32);
  }
}

TEST(Architecture, cites_a_source_for_each_fact) {
  for (const char* architecture : {"sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110",
                                   "sm_120", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"}) {
    const ArchitectureFacts found = facts(architecture);
    EXPECT_EQ(found.architecture, architecture);
    EXPECT_FALSE(found.absent.empty());
    for (const auto& number : found.numbers) {
      EXPECT_GT(number.value, 0) << number.name;
      EXPECT_GT(number.source.size(), 20u) << number.name;
    }
    for (const auto& statement : found.statements) EXPECT_GT(statement.source.size(), 20u) << statement.text;
  }
}

TEST(Architecture, tells_when_each_feature_came) {
  EXPECT_THAT(describe_architecture("sm_75", ""), Not(HasSubstr("- cp.async copies")));
  EXPECT_THAT(describe_architecture("sm_80", ""), HasSubstr("- cp.async copies"));
  EXPECT_THAT(describe_architecture("sm_89", ""), Not(HasSubstr("- cp.async.bulk")));
  EXPECT_THAT(describe_architecture("sm_90", ""), HasSubstr("- cp.async.bulk"));
  EXPECT_THAT(describe_architecture("sm_90", ""), HasSubstr("Thread block clusters"));
  // Only code for exactly sm_90a has these.
  EXPECT_THAT(describe_architecture("sm_90a", ""), HasSubstr("- wgmma multiplies"));
  EXPECT_THAT(describe_architecture("sm_90", ""), Not(HasSubstr("- wgmma multiplies")));
  EXPECT_THAT(describe_architecture("sm_90", ""), HasSubstr("what code for sm_90a alone has: wgmma"));
  EXPECT_THAT(describe_architecture("sm_100a", ""), HasSubstr("- tcgen05"));
  EXPECT_THAT(describe_architecture("sm_120a", ""), Not(HasSubstr("- tcgen05")));
  // ptxas 13.0 takes it for each of these, and for none of them without the suffix.
  for (const char* architecture : {"sm_100", "sm_103", "sm_110", "sm_120"}) {
    EXPECT_THAT(describe_architecture(std::string(architecture) + "a", ""), HasSubstr("- setmaxnreg moves"));
    EXPECT_THAT(describe_architecture(architecture, ""), Not(HasSubstr("- setmaxnreg moves")));
    EXPECT_THAT(describe_architecture(architecture, ""), HasSubstr("alone has: setmaxnreg"));
  }
}

TEST(Architecture, without_a_table_is_named_and_no_more) {
  EXPECT_FALSE(architecture_facts("sm_999"));
  EXPECT_FALSE(architecture_facts(""));
  EXPECT_EQ(describe_architecture("riscv64", "a\nboard"), "# Machine\n\nMeasured on: a board\nArchitecture: riscv64\n");
}

}  // namespace
}  // namespace kagent::proposer
