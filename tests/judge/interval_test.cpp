// SPDX-License-Identifier: Apache-2.0
#include "judge/interval.h"

#include <cmath>

#include <gtest/gtest.h>

#include "judge/student_t.h"

namespace kagent::judge {
namespace {

TEST(TrimmedInterval, IsThePlainTWithoutTrimming) {
  const Interval interval = trimmed_interval({1, 2, 3, 4}, 0, 0.05);
  EXPECT_DOUBLE_EQ(interval.center, 2.5);
  const double half = student_t_quantile(0.05, 3) * std::sqrt(5.0 / 3) / 2;
  EXPECT_NEAR(interval.low, 2.5 - half, 1e-12);
  EXPECT_NEAR(interval.high, 2.5 + half, 1e-12);
}

// Worked by hand: 8 values, one cut at each end, winsorised to {2,2,3,4,5,6,7,7}.
TEST(TrimmedInterval, WinsorisesTheVariance) {
  const Interval interval = trimmed_interval({7, 2, 3, 100, 4, 5, 6, -50}, 0.2, 0.05);
  EXPECT_DOUBLE_EQ(interval.center, 4.5);
  EXPECT_NEAR(interval.high - interval.center, student_t_quantile(0.05, 5) * std::sqrt(30.0 / 30), 1e-12);
}

TEST(TrimmedInterval, IsUnmovedByOneSpoiltPairInEight) {
  const std::vector<double> clean{-0.021, -0.019, -0.02, -0.022, -0.018, -0.02, -0.021, -0.019};
  std::vector<double> spoilt = clean;
  spoilt[3] = 0.5;
  const Interval interval = trimmed_interval(spoilt, 0.2, 0.01 / 3);
  EXPECT_LT(interval.high, 0);
  EXPECT_GT(trimmed_interval(spoilt, 0, 0.01 / 3).high, 0);
}

TEST(TrimmedInterval, SaysNothingFromLessThanTwoValues) {
  EXPECT_TRUE(std::isinf(trimmed_interval({}, 0.2, 0.01).high));
  EXPECT_TRUE(std::isinf(trimmed_interval({-0.1}, 0.2, 0.01).high));
}

TEST(Classify, CallsFasterOnlyWhatExcludesNoGainAndReachesMinGain) {
  EXPECT_EQ(classify({-0.02, -0.03, -0.01}, 0.01), Comparison::faster);
  EXPECT_EQ(classify({-0.02, -0.045, 0.005}, 0.01), Comparison::ambiguous);
  EXPECT_EQ(classify({-0.008, -0.013, -0.003}, 0.01), Comparison::ambiguous);
}

TEST(Classify, MirrorsFasterForSlower) {
  EXPECT_EQ(classify({0.02, 0.01, 0.03}, 0.01), Comparison::slower);
  EXPECT_EQ(classify({0.02, -0.01, 0.05}, 0.01), Comparison::ambiguous);
}

TEST(Classify, CallsSameOnlyWhatLiesWithinMinGainAsAWhole) {
  EXPECT_EQ(classify({0.001, -0.005, 0.007}, 0.01), Comparison::same);
  EXPECT_EQ(classify({-0.005, -0.009, -0.001}, 0.01), Comparison::same);
  EXPECT_EQ(classify({0.001, -0.02, 0.022}, 0.01), Comparison::ambiguous);
}

}  // namespace
}  // namespace kagent::judge
