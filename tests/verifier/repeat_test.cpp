// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "verifier/example.h"

namespace kagent::verifier {
namespace {

using example::OneInput;
using testing::HasSubstr;

const OneInput kCall(DType::float32, {1}, {1, 2}, example::tolerance(1));

TEST(CheckRepeat, PassesEqualOutputs) {
  EXPECT_EQ(check_repeat(kCall.spec, kCall.inputs, kCall.images({1, 2}), kCall.images({1, 2})).outcome, Outcome::ok);
}

TEST(CheckRepeat, IsUnstableWhenOneBitDiffersHoweverLooseTheTolerance) {
  const Verdict verdict =
      check_repeat(kCall.spec, kCall.inputs, kCall.images({1, 2}), kCall.images({1, std::nextafterf(2, 3)}));
  EXPECT_EQ(verdict.outcome, Outcome::unstable);
  EXPECT_THAT(verdict.reason, HasSubstr("training: two runs on the same inputs differ: y[1] was 2, then 2.0000002"));
  EXPECT_THAT(verdict.reason, HasSubstr("1 of 2 elements differ"));
}

TEST(CheckRepeat, TellsMinusZeroFromPlusZero) {
  EXPECT_EQ(check_repeat(kCall.spec, kCall.inputs, kCall.images({0.0, 2}), kCall.images({-0.0, 2})).outcome,
            Outcome::unstable);
}

TEST(CheckRepeat, LetsOutputsDifferWhereTheRulesAllowIt) {
  OneInput call = kCall;
  call.spec.rules.allow_nondeterminism = true;
  EXPECT_EQ(check_repeat(call.spec, call.inputs, call.images({1, 2}), call.images({1, 2.5})).outcome, Outcome::ok);
}

TEST(CheckRepeat, SeesAGuardDamagedByTheSecondRunOnly) {
  std::vector<BufferImage> again = kCall.images({1, 2});
  again[1].guards_intact = false;
  EXPECT_EQ(check_repeat(kCall.spec, kCall.inputs, kCall.images({1, 2}), again).outcome, Outcome::wrong_result);
}

}  // namespace
}  // namespace kagent::verifier
