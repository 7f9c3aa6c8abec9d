// SPDX-License-Identifier: Apache-2.0
#include "loop/stopping.h"

#include <gmock/gmock.h>

namespace kagent::loop {
namespace {

using ::testing::HasSubstr;

TEST(Stopping, GoesOnWhileNothingIsUsedUp) {
  EXPECT_FALSE(reason_to_stop({}, {}));
}

TEST(Stopping, EndsWhenTheRoundsAreUsed) {
  RunState state;
  state.rounds_done = 6;
  EXPECT_THAT(reason_to_stop({.rounds = 6, .goal_roofline = {}}, state).value(), HasSubstr("6 rounds"));
}

TEST(Stopping, KeepsTimeForJudgingBack) {
  RunState state;
  state.elapsed = std::chrono::seconds(74);
  const StoppingRule rule{
      .rounds = 6, .time_budget = std::chrono::seconds(100), .judging_share = 0.25, .goal_roofline = {}};
  EXPECT_FALSE(reason_to_stop(rule, state));
  state.elapsed = std::chrono::seconds(75);
  EXPECT_THAT(reason_to_stop(rule, state).value(), HasSubstr("100 s"));
}

TEST(Stopping, EndsAfterThreeRoundsWithoutAGainOfHalfAPercent) {
  RunState state;
  state.best_after_round = {0.80, 0.799, 0.798, 0.797};
  EXPECT_THAT(reason_to_stop({}, state).value(), HasSubstr("a person should look"));
}

TEST(Stopping, GoesOnWhileThreeRoundsTogetherGainMore) {
  RunState state;
  state.best_after_round = {0.80, 0.799, 0.798, 0.795};
  EXPECT_FALSE(reason_to_stop({}, state));
}

TEST(Stopping, ThreeRoundsAreNotEnoughToCallItQuiet) {
  RunState state;
  state.best_after_round = {1, 1, 1};
  EXPECT_FALSE(reason_to_stop({}, state));
}

TEST(Stopping, EndsWhenNearlyEveryCandidateFails) {
  RunState state;
  state.failed.assign(24, true);
  EXPECT_THAT(reason_to_stop({}, state).value(), HasSubstr("failed"));
}

TEST(Stopping, ToleratesFailuresAmongSuccesses) {
  RunState state;
  state.failed.assign(24, true);
  state.failed[3] = state.failed[9] = false;
  EXPECT_FALSE(reason_to_stop({}, state));
}

TEST(Stopping, EndsWhenTheGoalIsReached) {
  RunState state;
  state.roofline_share = 0.9;
  EXPECT_FALSE(reason_to_stop({}, state));
  StoppingRule rule;
  rule.goal_roofline = 0.91;
  EXPECT_FALSE(reason_to_stop(rule, state));
  rule.goal_roofline = 0.9;
  EXPECT_THAT(reason_to_stop(rule, state).value(), HasSubstr("90 % of the roofline"));
}

TEST(Stopping, EndsWhenTheSpaceIsExhausted) {
  RunState state;
  state.space_exhausted = true;
  EXPECT_THAT(reason_to_stop({}, state).value(), HasSubstr("every point"));
}

}  // namespace
}  // namespace kagent::loop
