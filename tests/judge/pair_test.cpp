// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "judge/judge.h"

namespace kagent::judge {
namespace {

TEST(PairLogRatio, ComparesTheLowerQuartiles) {
  const PairSamples samples{{100, 110, 120, 130, 140}, {90, 99, 108, 117, 126}};
  EXPECT_NEAR(pair_log_ratio(samples), std::log(99.0 / 110), 1e-12);
}

TEST(PairLogRatio, IsUnmovedByDisturbancesOfMostSamplesOfOneSide) {
  const PairSamples samples{{100, 100, 100, 100, 100, 100, 100, 100}, {90, 400, 90, 170, 300, 90, 900, 250}};
  EXPECT_NEAR(pair_log_ratio(samples), std::log(0.9), 1e-12);
}

TEST(PairLogRatio, DropsAMissingTimeWithItsNeighbour) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double missing : {0.0, -1.0, nan, HUGE_VAL}) {
    EXPECT_NEAR(pair_log_ratio({{100, missing, 100, 100}, {120, 1, 120, 120}}), std::log(1.2), 1e-12);
    EXPECT_NEAR(pair_log_ratio({{100, 1, 100, 100}, {120, missing, 120, 120}}), std::log(1.2), 1e-12);
  }
}

TEST(PairLogRatio, IsNothingWithoutTimes) {
  EXPECT_TRUE(std::isnan(pair_log_ratio({})));
  EXPECT_TRUE(std::isnan(pair_log_ratio({{0, 0}, {1, 1}})));
}

TEST(Quantile, LiesBetweenNeighboursInProportion) {
  EXPECT_EQ(quantile({4, 1, 2, 3}, 0.25), 1.75);
  EXPECT_EQ(quantile({5}, 0.25), 5);
  EXPECT_EQ(quantile({1, 2}, 1), 2);
  EXPECT_TRUE(std::isnan(quantile({}, 0.25)));
}

TEST(Median, TakesTheMiddleOrTheMeanOfTheTwoMiddles) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_TRUE(std::isnan(median({})));
}

}  // namespace
}  // namespace kagent::judge
