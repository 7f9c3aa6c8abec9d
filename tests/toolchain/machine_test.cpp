// SPDX-License-Identifier: Apache-2.0
#include "toolchain/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::toolchain {
namespace {

constexpr const char* kV2 = "fpu cx16 lahf_lm popcnt pni ssse3 sse4_1 sse4_2";
constexpr const char* kV3 = " avx avx2 bmi1 bmi2 f16c fma abm movbe";
constexpr const char* kV4 = " avx512f avx512bw avx512cd avx512dq avx512vl";

TEST(X86Level, follows_the_psabi) {
  EXPECT_EQ(x86_level("fpu sse sse2"), "x86-64");
  EXPECT_EQ(x86_level(kV2), "x86-64-v2");
  EXPECT_EQ(x86_level(std::string(kV2) + kV3), "x86-64-v3");
  EXPECT_EQ(x86_level(std::string(kV2) + kV3 + kV4), "x86-64-v4");
}

TEST(X86Level, needs_every_feature_of_a_level_and_of_those_below) {
  EXPECT_EQ(x86_level(std::string(kV2) + kV4), "x86-64-v2");
  EXPECT_EQ(x86_level(std::string(kV2) + " avx avx2 bmi1 bmi2 f16c abm movbe fma4"), "x86-64-v2");
}

TEST(Machine, runs_its_own_level_and_those_below) {
  EXPECT_TRUE(machine_runs(machine_level()));
  EXPECT_TRUE(machine_runs("native"));
  EXPECT_FALSE(machine_runs("x86-64-v9"));
  EXPECT_FALSE(machine_runs(""));
  EXPECT_FALSE(machine_runs("sm_90"));
  EXPECT_NE(machine_runs("x86-64"), machine_runs("aarch64"));
}

TEST(Machine, is_described_by_model_cores_and_level) {
  EXPECT_THAT(machine_description(), testing::MatchesRegex(".+, [0-9]+ cores?, .+"));
  EXPECT_THAT(machine_description(), testing::EndsWith(machine_level()));
}

TEST(Machine, tells_its_caches_from_the_nearest_on) {
  EXPECT_THAT(cache_description(), testing::MatchesRegex("([0-9]+ [KM]iB L1)?(, )?([0-9]+ [KM]iB L2)?(, )?"
                                                         "([0-9]+ [KM]iB L3)?"));
}

}  // namespace
}  // namespace kagent::toolchain
