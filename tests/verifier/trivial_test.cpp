// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "verifier/example.h"

namespace kagent::verifier {
namespace {

using example::OneInput;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> trivial(const OneInput& call) {
  return trivial_passes(call.spec, call.inputs, call.expected);
}

TEST(TrivialPasses, AreNoneUnderATightTolerance) {
  EXPECT_THAT(trivial(OneInput(DType::float32, {1, 2, 3}, {0.1, 0.5, 0.4}, example::tolerance(1e-6, 1e-6))), IsEmpty());
}

TEST(TrivialPasses, NameZerosUnderALooseAtol) {
  EXPECT_THAT(trivial(OneInput(DType::float32, {1, 2, 3}, {1e-4, 3e-4, -2e-4}, example::tolerance(1e-6, 1e-3))),
              Contains("y: all zeros"));
}

TEST(TrivialPasses, NameAConstantThatIsTheMean) {
  EXPECT_THAT(trivial(OneInput(DType::float32, {1, 2, 3}, {0.5, 0.5, 0.5}, example::tolerance(1e-6))),
              ElementsAre("y: all 0.5"));
}

TEST(TrivialPasses, NameACopyOfAnInput) {
  EXPECT_THAT(trivial(OneInput(DType::float32, {1, 2}, {1.0000001, 2}, example::tolerance(1e-6))),
              ElementsAre("y: a copy of x"));
}

TEST(TrivialPasses, HoldForIntegersOnlyWhenTheyAreExact) {
  EXPECT_THAT(trivial(OneInput(DType::int32, {1, 2}, {0, 0})), ElementsAre("y: all zeros"));
  EXPECT_THAT(trivial(OneInput(DType::int32, {1, 2}, {0, 1})), IsEmpty());
}

TEST(TrivialPasses, AreNotAskedOfEmptyOutputs) {
  EXPECT_THAT(trivial(OneInput(DType::float32, {}, {}, example::tolerance(1e-6))), IsEmpty());
}

TEST(TrivialPasses, AreJudgedForEachOutputByItself) {
  OneInput call(DType::float32, {1, 2}, {3, 4}, example::tolerance(1e-6));
  call.spec.parameters.push_back({"sum", ParameterKind::output, DType::int64, {}, 0});
  call.expected.tensors["sum"] = example::tensor(DType::int64, {}, {0});
  EXPECT_THAT(trivial(call), ElementsAre("sum: all zeros"));
}

}  // namespace
}  // namespace kagent::verifier
