// SPDX-License-Identifier: Apache-2.0
#include "proposer/encoding.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proposer/spaces.h"

namespace kagent::proposer {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

std::vector<double> encoded(const SearchSpace& space, const Point& point) {
  const Encoding encoding(Space::make(space).value());
  std::vector<double> row(encoding.width());
  encoding.encode(point, row.data());
  return row;
}

TEST(Encoding, PlacesValuesBetweenRankAndLogarithmWhateverTheirOrder) {
  const SearchSpace powers{{{"A", {16, 1, 4}}}, {}};
  EXPECT_THAT(encoded(powers, {0}), ElementsAre(DoubleEq(1)));
  EXPECT_THAT(encoded(powers, {1}), ElementsAre(DoubleEq(0)));
  EXPECT_THAT(encoded(powers, {2}), ElementsAre(DoubleEq(0.5)));
}

TEST(Encoding, UsesRanksAloneWhereThereIsNoLogarithm) {
  EXPECT_THAT(encoded({{{"A", {-5, 0, 100}}}, {}}, {1}), ElementsAre(DoubleEq(0.5)));
}

TEST(Encoding, AddsHowOftenAValueIsDivisibleByTwo) {
  const SearchSpace sizes{{{"A", {16, 32, 48, 64}}}, {}};
  const std::vector<double> low = encoded(sizes, {2}), high = encoded(sizes, {3});
  ASSERT_EQ(low.size(), 2);
  EXPECT_EQ(low[1], 0);
  EXPECT_EQ(high[1], 1);
}

TEST(Encoding, LeavesOutTunablesWithoutAChoice) {
  EXPECT_TRUE(encoded({{{"A", {7}}}, {}}, {0}).empty());
}

TEST(Encoding, GivesTreesAreasAndRatiosOfEachTwo) {
  const Encoding encoding(Space::make({{{"A", {2, 8}}, {"B", {4, 32}}}, {}}).value());
  ASSERT_EQ(encoding.wide_width(), 4);
  std::vector<double> row(4);
  encoding.encode_wide({1, 1}, row.data());
  EXPECT_THAT(row, ElementsAre(1, 1, DoubleEq(8), DoubleEq(-2)));
}

}  // namespace
}  // namespace kagent::proposer
