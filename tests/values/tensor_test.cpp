// SPDX-License-Identifier: Apache-2.0
#include "values/tensor.h"

#include <gtest/gtest.h>

namespace kagent {
namespace {

TEST(Tensor, AScalarHasOneElementAndAZeroExtentNone) {
  EXPECT_EQ(make_tensor(DType::float64, {}).element_count(), 1);
  EXPECT_EQ(make_tensor(DType::float64, {}).bytes.size(), 8U);
  EXPECT_EQ(make_tensor(DType::float32, {3, 0, 2}).element_count(), 0);
  EXPECT_TRUE(make_tensor(DType::float32, {3, 0, 2}).bytes.empty());
}

TEST(Tensor, StartsAtZeroAndKeepsWhatIsSet) {
  Tensor tensor = make_tensor(DType::bfloat16, {2, 3});
  EXPECT_EQ(tensor.bytes.size(), 12U);
  EXPECT_EQ(tensor.at(5), 0);
  tensor.set(5, -1.5);
  EXPECT_EQ(tensor.at(5), -1.5);
  EXPECT_EQ(tensor.at(4), 0);
}

}  // namespace
}  // namespace kagent
