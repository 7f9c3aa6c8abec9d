// SPDX-License-Identifier: Apache-2.0
#include "verifier/message.h"

#include <gmock/gmock.h>

#include "verifier/example.h"

namespace kagent::verifier {
namespace {

using example::OneInput;
using testing::HasSubstr;
using testing::Not;

TEST(Message, NamesCaseElementValuesUlpToleranceAndCount) {
  const OneInput call(DType::float32, {1}, {1, 2, 4}, example::tolerance(1e-6));
  const Verdict verdict = call.compare({1, 2.0001, 4.0001});
  EXPECT_EQ(verdict.outcome, Outcome::wrong_result);
  EXPECT_EQ(verdict.reason,
            "training: y[1]: got 2.0001, expected 2, 419 ulp, 49.9x the tolerance; 2 of 3 elements fail");
}

TEST(Message, IndexesEveryDimension) {
  Tensor tensor = make_tensor(DType::float32, {3, 4, 5});
  EXPECT_EQ(element_name("y", unflatten(tensor, 3 * 4 * 5 - 1)), "y[2][3][4]");
  EXPECT_EQ(element_name("total", unflatten(make_tensor(DType::float32, {}), 0)), "total");
}

TEST(Message, WritesAsManyDigitsAsItTakesToSeeTheDifference) {
  EXPECT_EQ(distinct_texts(DType::float32, 0.0012, 0.0013), (std::pair<std::string, std::string>{"0.0012", "0.0013"}));
  const auto [a, b] = distinct_texts(DType::float32, 1.0, 1.0 + 0x1p-23);
  EXPECT_NE(a, b);
  const auto [c, d] = distinct_texts(DType::float64, 1.0, 1.0 + 0x1p-52);
  EXPECT_NE(c, d);
}

TEST(Message, WritesLargeIntegersInFull) {
  Tensor tensor = make_tensor(DType::uint64, {1});
  std::fill(tensor.bytes.begin(), tensor.bytes.end(), std::byte{0xff});
  EXPECT_EQ(element_text(tensor, 0), "18446744073709551615");
  tensor.dtype = DType::int64;
  EXPECT_EQ(element_text(tensor, 0), "-1");
}

TEST(Message, IsOneLineWhateverTheValues) {
  const OneInput call(DType::float32, {1}, {1, 2}, example::tolerance(1e-6));
  for (const double bad : {std::nan(""), HUGE_VAL, 1e30, 0.0})
    EXPECT_THAT(call.compare({bad, 2}).reason, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace kagent::verifier
