// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "verifier/example.h"

namespace kagent::verifier {
namespace {

using example::OneInput;
using testing::HasSubstr;

constexpr std::uint8_t kFirst = 0xA5, kSecond = 0x5A;

std::vector<BufferImage> poisoned(const OneInput& call, const std::vector<double>& y, std::size_t element,
                                  std::uint8_t poison) {
  std::vector<BufferImage> images = call.images(y);
  Tensor& output = images[1].contents;
  const std::size_t width = size_bytes(output.dtype);
  std::fill_n(output.bytes.begin() + static_cast<std::ptrdiff_t>(element * width), width, std::byte{poison});
  return images;
}

class CheckWritten : public testing::TestWithParam<DType> {};

TEST_P(CheckWritten, NamesAnElementThatKeepsBothPoisons) {
  const OneInput call(GetParam(), {1}, {1, 0, 1});
  const Verdict verdict = check_written(call.spec, call.inputs, poisoned(call, {1, 0, 1}, 2, kFirst), kFirst,
                                        poisoned(call, {1, 0, 1}, 2, kSecond), kSecond);
  EXPECT_EQ(verdict.outcome, Outcome::wrong_result);
  EXPECT_EQ(verdict.reason, "training: y[2] was not written; 1 of 3 elements were not");
}

TEST_P(CheckWritten, PassesAnElementThatHappensToBePoisonOnce) {
  const OneInput call(GetParam(), {1}, {1, 0, 1});
  EXPECT_EQ(check_written(call.spec, call.inputs, poisoned(call, {1, 0, 1}, 2, kFirst), kFirst,
                          poisoned(call, {1, 0, 1}, 2, kFirst), kSecond)
                .outcome,
            Outcome::ok);
}

INSTANTIATE_TEST_SUITE_P(Types, CheckWritten,
                         testing::Values(DType::float64, DType::float32, DType::bfloat16, DType::float8_e4m3,
                                         DType::int64, DType::uint8, DType::boolean));

TEST(CheckWrittenInout, IsNotAskedSinceItHoldsItsInputBeforeTheCall) {
  OneInput call(DType::float32, {1}, {1, 2});
  call.spec.parameters[1].kind = ParameterKind::inout;
  const auto images = poisoned(call, {1, 2}, 0, kFirst);
  EXPECT_EQ(check_written(call.spec, call.inputs, images, kFirst, images, kFirst).outcome, Outcome::ok);
}

TEST(CheckWrittenEmpty, PassesAnOutputWithoutElements) {
  const OneInput call(DType::float32, {}, {});
  EXPECT_EQ(check_written(call.spec, call.inputs, call.images({}), kFirst, call.images({}), kSecond).outcome,
            Outcome::ok);
}

}  // namespace
}  // namespace kagent::verifier
