// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/spec.h"

namespace kagent::spec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Parameter buffer(const std::vector<std::string>& shape) {
  Parameter parameter;
  parameter.name = "x";
  for (const std::string& text : shape) parameter.shape.push_back(*Expression::parse(text));
  return parameter;
}

TEST(Extents, FollowTheSizes) {
  EXPECT_THAT(*extents(buffer({"rows", "ceil_div(cols, 4)", "2"}), {{"rows", 3}, {"cols", 9}}), ElementsAre(3, 3, 2));
  EXPECT_TRUE(extents(buffer({}), {})->empty());
}

TEST(Extents, ZeroIsAnExtent) {
  EXPECT_THAT(*extents(buffer({"n", "4"}), {{"n", 0}}), ElementsAre(0, 4));
}

TEST(Extents, ANegativeExtentNamesItsExpression) {
  const auto result = extents(buffer({"n - 4"}), {{"n", 1}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "shape of 'x': 'n - 4' is -3");
}

TEST(Extents, BytesThatOverflowAreAnErrorEvenBesideAZero) {
  EXPECT_THAT(extents(buffer({"n", "n"}), {{"n", std::int64_t{1} << 31}}).error().message, HasSubstr("more bytes"));
  EXPECT_FALSE(extents(buffer({"n", "n", "n", "0"}), {{"n", std::int64_t{1} << 31}}));
  EXPECT_TRUE(extents(buffer({"n"}), {{"n", std::int64_t{1} << 60}}));
  EXPECT_FALSE(extents(buffer({"n"}), {{"n", std::int64_t{1} << 61}}));
}

TEST(Extents, AnUnknownSizeIsAnError) {
  EXPECT_THAT(extents(buffer({"m"}), {{"n", 1}}).error().message, HasSubstr("there is no 'm'"));
}

}  // namespace
}  // namespace kagent::spec
