// SPDX-License-Identifier: Apache-2.0
#include "verifier/surroundings.h"

#include <gmock/gmock.h>

#include "verifier/example.h"

namespace kagent::verifier {
namespace {

using example::OneInput;
using testing::HasSubstr;

const OneInput kCall(DType::float32, {5, 6}, {1, 2}, example::tolerance(1e-6));

Verdict compare(const std::vector<BufferImage>& images) {
  return verifier::compare(kCall.spec, kCall.inputs, kCall.expected, images);
}

TEST(Surroundings, PassWhenOnlyTheOutputWasWritten) {
  EXPECT_EQ(compare(kCall.images({1, 2})).outcome, Outcome::ok);
}

TEST(Surroundings, FailOnAWriteBeforeABuffer) {
  auto images = kCall.images({1, 2});
  images[1].guards_intact = false;
  images[1].first_damage = -4;
  const Verdict verdict = compare(images);
  EXPECT_EQ(verdict.outcome, Outcome::wrong_result);
  EXPECT_THAT(verdict.reason, HasSubstr("training: the call wrote outside of y, first at byte -4"));
}

TEST(Surroundings, FailOnAWritePastAWorkspace) {
  auto images = kCall.images({1, 2});
  images.push_back({"scratch", make_tensor(DType::float32, {4}), false, 16});
  EXPECT_THAT(compare(images).reason, HasSubstr("outside of scratch, first at byte 16"));
}

TEST(Surroundings, FailOnAChangedInput) {
  auto images = kCall.images({1, 2});
  images[0].contents.set(1, 0);
  EXPECT_THAT(compare(images).reason, HasSubstr("the call changed its input x: x[1] was 6, is 0; 1 of 2 elements"));
}

TEST(Surroundings, FailOnAnInputThatChangedOnlyInTheSignOfZero) {
  const OneInput call(DType::float32, {0}, {1}, example::tolerance(1e-6));
  auto images = call.images({1});
  images[0].contents.set(0, -0.0);
  EXPECT_EQ(verifier::compare(call.spec, call.inputs, call.expected, images).outcome, Outcome::wrong_result);
}

TEST(Surroundings, FailWhenABufferIsMissing) {
  auto images = kCall.images({1, 2});
  images.pop_back();
  EXPECT_THAT(compare(images).reason, HasSubstr("y was not read back"));
  EXPECT_EQ(compare({}).outcome, Outcome::wrong_result);
}

TEST(Surroundings, FailOnAnImageOfAnotherSizeOrTypeOrTruncated) {
  auto larger = kCall.images({1, 2});
  larger[1].contents = make_tensor(DType::float32, {3});
  EXPECT_EQ(compare(larger).outcome, Outcome::wrong_result);
  auto other = kCall.images({1, 2});
  other[1].contents = make_tensor(DType::int32, {2});
  EXPECT_EQ(compare(other).outcome, Outcome::wrong_result);
  auto truncated = kCall.images({1, 2});
  truncated[1].contents.bytes.resize(5);
  EXPECT_THAT(compare(truncated).reason, HasSubstr("in 5 bytes"));
}

}  // namespace
}  // namespace kagent::verifier
