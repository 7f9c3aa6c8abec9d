// SPDX-License-Identifier: Apache-2.0
#include "judge/policy.h"

#include <cmath>

#include <gmock/gmock.h>

namespace kagent::judge {
namespace {

using testing::HasSubstr;

TEST(Policy, IsSoundByDefault) {
  EXPECT_STREQ(problem(Policy{}), "");
}

TEST(Policy, RefusesAGainThatProcessesCannotTell) {
  Policy policy;
  policy.min_gain = 0.004;
  EXPECT_THAT(problem(policy), HasSubstr("0.005"));
  policy.min_gain = kSmallestGain;
  EXPECT_STREQ(problem(policy), "");
}

TEST(Policy, RefusesLooksThatAreMissingTooEarlyOrOutOfOrder) {
  Policy policy;
  policy.looks = {};
  EXPECT_THAT(problem(policy), HasSubstr("first look"));
  policy.looks = {2, 8};
  EXPECT_THAT(problem(policy), HasSubstr("first look"));
  policy.looks = {8, 4};
  EXPECT_THAT(problem(policy), HasSubstr("order"));
}

TEST(Policy, RefusesNumbersThatAreNone) {
  Policy policy;
  policy.min_gain = std::nan("");
  EXPECT_STRNE(problem(policy), "");
  policy = {};
  policy.max_regression = -0.1;
  EXPECT_STRNE(problem(policy), "");
  policy = {};
  policy.confidence = 1;
  EXPECT_STRNE(problem(policy), "");
}

}  // namespace
}  // namespace kagent::judge
