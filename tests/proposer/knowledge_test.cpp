// SPDX-License-Identifier: Apache-2.0
#include "proposer/knowledge.h"

#include <cmath>

#include <gtest/gtest.h>

#include "proposer/spaces.h"

namespace kagent::proposer {
namespace {

Observation at(std::int64_t value, std::optional<double> time, std::optional<Strategy> strategy = std::nullopt) {
  return {{{"T0", value}}, time, false, strategy};
}

TEST(Knowledge, TakesTheMedianOfRepeatedTimesAndForgetsFailuresOfWhatOnceWorked) {
  const Space space = Space::make(product(1, counted(5))).value();
  const Knowledge knowledge(
      space, {at(0, 4), at(1, std::nullopt), at(0, 1), at(0, std::nullopt), at(0, 2), at(1, std::nullopt), at(2, 3)});
  ASSERT_EQ(knowledge.scored.size(), 2);
  EXPECT_DOUBLE_EQ(std::exp(knowledge.log_times[0]), 2);
  EXPECT_EQ(knowledge.failed, (std::vector<Point>{{1}}));
  EXPECT_EQ(knowledge.best_first, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(knowledge.tried.size(), 3);
}

TEST(Knowledge, RewardsStrategiesWhosePointsBeatOthers) {
  const Space space = Space::make(product(1, counted(100))).value();
  std::vector<Observation> observations;
  for (int i = 0; i < 20; ++i) {
    observations.push_back(at(3 * i, 1 + i, Strategy::forest));
    observations.push_back(at(3 * i + 1, 101 + i, Strategy::process));
    observations.push_back(at(3 * i + 2, std::nullopt, Strategy::neighbour));
  }
  const auto reward = Knowledge(space, observations).reward;
  const auto of = [&](Strategy strategy) { return reward[static_cast<std::size_t>(strategy)]; };
  EXPECT_GT(of(Strategy::forest), 0.65);
  EXPECT_LT(of(Strategy::process), 0.35);
  EXPECT_LT(of(Strategy::neighbour), 0.1);
  EXPECT_EQ(of(Strategy::exploration), 0.5);  // nothing known
}

TEST(Knowledge, RemembersPointsWithoutAnAnswerOnlyAsTried) {
  const Space space = Space::make(product(1, counted(3))).value();
  const Knowledge knowledge(space, {{{{"T0", 2}}, std::nullopt, true, Strategy::forest}});
  EXPECT_TRUE(knowledge.tried.contains(Point{2}));
  EXPECT_TRUE(knowledge.failed.empty());
  EXPECT_EQ(knowledge.reward[static_cast<std::size_t>(Strategy::forest)], 0.5);
}

}  // namespace
}  // namespace kagent::proposer
