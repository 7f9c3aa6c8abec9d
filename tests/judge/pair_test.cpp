// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "judge/judge.h"

namespace kagent::judge {
namespace {

TEST(PairLogRatio, CancelsALinearDriftInsideABlock) {
  // ABBA at times 0 1 2 3 on a machine that slows by 10 % a step (in the logarithm); the programs are equal.
  const PairSamples samples{{std::exp(0.0), std::exp(0.3)}, {std::exp(0.1), std::exp(0.2)}};
  EXPECT_NEAR(pair_log_ratio(samples), 0, 1e-12);
}

TEST(PairLogRatio, IsTheMedianOverBlocks) {
  const PairSamples samples{{100, 100, 100, 100, 100, 100}, {90, 90, 90, 90, 500, 900}};
  EXPECT_NEAR(pair_log_ratio(samples), std::log(0.9), 1e-12);
}

TEST(PairLogRatio, DropsABlockWithAMissingTimeWhole) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double missing : {0.0, -1.0, nan, HUGE_VAL}) {
    EXPECT_NEAR(pair_log_ratio({{100, missing, 100, 100}, {1, 1, 120, 120}}), std::log(1.2), 1e-12);
    EXPECT_NEAR(pair_log_ratio({{100, 100, 100, 100}, {1, missing, 120, 120}}), std::log(1.2), 1e-12);
  }
}

TEST(PairLogRatio, IsNothingWithoutAWholeBlock) {
  EXPECT_TRUE(std::isnan(pair_log_ratio({})));
  EXPECT_TRUE(std::isnan(pair_log_ratio({{0, 0}, {1, 1}})));
}

TEST(Median, TakesTheMiddleOrTheMeanOfTheTwoMiddles) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_TRUE(std::isnan(median({})));
}

}  // namespace
}  // namespace kagent::judge
