// SPDX-License-Identifier: Apache-2.0
#include "runner/geometry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::runner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::array<Expression, 3> axes(const std::string& x, const std::string& y = "1", const std::string& z = "1") {
  return {*Expression::parse(x), *Expression::parse(y), *Expression::parse(z)};
}

TEST(Geometry, IsEvaluatedOverSizesAndTunables) {
  Launch launch{axes("ceil_div(n, BLOCK)", "m"), axes("BLOCK"), axes("2"), *Expression::parse("4 * BLOCK"), {}};
  const auto geometry = evaluate_geometry(launch, {{"n", 1000}, {"m", 3}}, {{"BLOCK", 256}});
  ASSERT_TRUE(geometry) << geometry.error().message;
  ASSERT_TRUE(*geometry);
  EXPECT_THAT((*geometry)->grid, ElementsAre(4, 3, 1));
  EXPECT_THAT((*geometry)->block, ElementsAre(256, 1, 1));
  EXPECT_THAT((*geometry)->cluster, ElementsAre(2, 1, 1));
  EXPECT_EQ((*geometry)->shared_bytes, 1024U);
}

TEST(Geometry, MayBeEmptyInItsGridAlone) {
  const auto empty = evaluate_geometry({axes("n"), axes("32"), {}, {}, {}}, {{"n", 0}}, {});
  ASSERT_TRUE(empty && *empty);
  EXPECT_EQ((*empty)->grid[0], 0U);
  EXPECT_THAT((*empty)->cluster, ElementsAre(0, 0, 0));
  const auto threads = evaluate_geometry({axes("1"), axes("n"), {}, {}, {}}, {{"n", 0}}, {});
  ASSERT_TRUE(threads);
  EXPECT_FALSE(*threads);
}

TEST(Geometry, BeyondWhatCanBeAskedForIsTheCandidates) {
  for (const char* extent : {"n - 1", "n + 4294967296"}) {
    const auto geometry = evaluate_geometry({axes(extent), axes("32"), {}, {}, {}}, {{"n", 0}}, {});
    ASSERT_TRUE(geometry);
    ASSERT_FALSE(*geometry) << extent;
    EXPECT_THAT(geometry->error(), HasSubstr("grid x is '" + std::string(extent) + "', "));
  }
  const auto first =
      evaluate_geometry({axes("1"), axes("32", "n"), {}, *Expression::parse("n - 7"), {}}, {{"n", 0}}, {});
  ASSERT_TRUE(first);
  ASSERT_FALSE(*first);
  EXPECT_EQ(first->error(), "asks for what no device has: block y is 'n', 0");
}

TEST(Geometry, OfAnUnknownNameNamesIt) {
  const auto geometry = evaluate_geometry({axes("rows"), axes("32"), {}, {}, {}}, {{"n", 0}}, {});
  ASSERT_FALSE(geometry);
  EXPECT_THAT(geometry.error().message, HasSubstr("rows"));
}

}  // namespace
}  // namespace kagent::runner
