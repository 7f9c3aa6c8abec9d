// SPDX-License-Identifier: Apache-2.0
#include "loop/stopping.h"

#include <gmock/gmock.h>

namespace kagent::loop {
namespace {

using ::testing::HasSubstr;

StoppingRule rounds(int count) {
  StoppingRule rule;
  rule.rounds = count;
  return rule;
}

TEST(Stopping, GoesOnWhileNothingIsUsedUp) {
  EXPECT_FALSE(reason_to_stop({}, {}));
}

TEST(Stopping, EndsWhenTheRoundsAreUsed) {
  RunState state;
  state.rounds_done = 6;
  EXPECT_THAT(reason_to_stop(rounds(6), state).value(), HasSubstr("6 rounds"));
}

TEST(Stopping, KeepsTimeForJudgingBack) {
  RunState state;
  state.elapsed = std::chrono::seconds(74);
  StoppingRule rule = rounds(6);
  rule.time_budget = std::chrono::seconds(100);
  rule.judging_share = 0.25;
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

TEST(Stopping, SaysHowFarTheRooflineIsWhenAPersonShouldLook) {
  RunState state;
  state.best_after_round = {0.80, 0.799, 0.798, 0.797};
  state.roofline_share = 0.62;
  EXPECT_THAT(reason_to_stop({}, state).value(), HasSubstr("62 % of the roofline"));
  state.roofline_share.reset();
  EXPECT_THAT(reason_to_stop({}, state).value(), HasSubstr("not known"));
}

TEST(Stopping, EndsWhenTheGoalOfASpeedupIsReached) {
  StoppingRule rule;
  rule.goal_speedup = 2;
  RunState state;
  state.accepted_ratio = 0.51;
  EXPECT_FALSE(reason_to_stop(rule, state));
  state.accepted_ratio = 0.5;
  EXPECT_THAT(reason_to_stop(rule, state).value(), HasSubstr("2.00x"));
}

TEST(Stopping, EndsWhenTheTokensAreUsed) {
  StoppingRule rule;
  rule.tokens = 1000;
  RunState state;
  state.usage.input_tokens = 900;
  state.usage.output_tokens = 99;
  EXPECT_FALSE(reason_to_stop(rule, state));
  state.usage.output_tokens = 100;
  EXPECT_THAT(reason_to_stop(rule, state).value(), HasSubstr("1000 tokens"));
}

TEST(Stopping, EndsWhenTheMoneyIsUsed) {
  StoppingRule rule;
  rule.money = 2.5;
  RunState state;
  state.usage.cost = 2.49;
  EXPECT_FALSE(reason_to_stop(rule, state));
  state.usage.cost = 2.5;
  EXPECT_THAT(reason_to_stop(rule, state).value(), HasSubstr("2.5"));
}

TEST(Stopping, EndsWhenABudgetHasTooLittleLeftForAnAnswer) {
  RunState state;
  state.spent = "the budget of 100 tokens has 3 left";
  EXPECT_THAT(reason_to_stop({}, state).value(), HasSubstr("3 left"));
}

TEST(Stopping, FallsBackToTheSearchWhenMoreThanAFifthOfAFullWindowFails) {
  RunState state;
  state.written_failed.assign(19, true);
  EXPECT_FALSE(reason_to_fall_back(state));
  state.written_failed.assign(40, true);
  for (int i = 0; i < 16; ++i) state.written_failed.push_back(false);
  EXPECT_FALSE(reason_to_fall_back(state));  // 4 of 20 are no more than a fifth
  state.written_failed.erase(state.written_failed.end() - 1);
  EXPECT_THAT(reason_to_fall_back(state).value(), HasSubstr("5 of its last 20"));
}

TEST(Stopping, EndsWhenTheSpaceIsExhausted) {
  RunState state;
  state.space_exhausted = true;
  EXPECT_THAT(reason_to_stop({}, state).value(), HasSubstr("every point"));
  state.has_space = false;
  EXPECT_THAT(reason_to_stop({}, state).value(), HasSubstr("no tunables"));
}

}  // namespace
}  // namespace kagent::loop
