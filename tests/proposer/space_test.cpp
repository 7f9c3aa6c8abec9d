// SPDX-License-Identifier: Apache-2.0
#include "proposer/space.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proposer/spaces.h"

namespace kagent::proposer {
namespace {

using testing::HasSubstr;

std::optional<Point> sample(const Space& space, Random& random) {
  std::size_t budget = 1 << 18;
  return space.sample(random, budget);
}

TEST(Space, ListsExactlyTheValidPointsOfASmallSpace) {
  const Space space =
      Space::make({{{"A", {1, 2, 4}}, {"B", {8, 3}}, {"C", {0, 1}}}, {expression("A * B <= 12")}}).value();
  std::set<TunableValues> listed;
  const auto points = space.list(100);
  ASSERT_TRUE(points);
  for (const Point& point : *points) listed.insert(space.values(point));
  EXPECT_EQ(points->size(), listed.size());
  std::set<TunableValues> expected;
  for (const auto& [a, b] : std::vector<std::pair<int, int>>{{1, 8}, {1, 3}, {2, 3}, {4, 3}})
    for (int c : {0, 1}) expected.insert({{"A", a}, {"B", b}, {"C", c}});
  EXPECT_EQ(listed, expected);
}

TEST(Space, DoesNotListMorePointsThanAsked) {
  const Space space = Space::make(product(3, counted(10))).value();
  EXPECT_FALSE(space.list(999));
  ASSERT_TRUE(space.list(1000));
  EXPECT_EQ(space.list(1000)->size(), 1000);
}

TEST(Space, SamplesOnlyValidPointsOfAnAstronomicSpace) {
  const Space space = Space::make(product(40, {1, 2}, {"T0 * T1 == 2", "T38 + T39 != 3"})).value();
  EXPECT_FALSE(space.list(1 << 20));
  Random random(1);
  std::set<Point> distinct;
  for (int i = 0; i < 100; ++i) {
    const auto point = sample(space, random);
    ASSERT_TRUE(point);
    EXPECT_TRUE(space.valid(*point));
    distinct.insert(*point);
  }
  EXPECT_GT(distinct.size(), 95);
}

TEST(Space, SamplesAListedGroupEvenly) {
  // 1 + 2 + ... + 10 = 55 points; a descent that chose A evenly first would favour those with a small A tenfold.
  const Space space = Space::make({{{"A", counted(10, 1)}, {"B", counted(10, 1)}}, {expression("B <= A")}}).value();
  Random random(7);
  std::map<Point, int> seen;
  constexpr int kEach = 200;
  for (int i = 0; i < 55 * kEach; ++i) ++seen[*sample(space, random)];
  EXPECT_EQ(seen.size(), 55);
  for (const auto& [point, times] : seen) {
    EXPECT_GT(times, kEach / 2);
    EXPECT_LT(times, kEach * 2);
  }
}

TEST(Space, SamplesAnUnlistedGroupAboutEvenly) {
  // About half of 2^32 points: B <= A and a chain that ties everything into one group. A is uniform over its values
  // only if descents are weighted; unweighted, A would be even and so P(A >= 128) one half instead of three quarters.
  SearchSpace wide{{{"A", counted(256)}, {"B", counted(256)}, {"C", counted(256)}, {"D", counted(256)}},
                   {expression("B <= A"), expression("C + D >= 0 && B + C >= 0")}};
  const Space space = Space::make(wide).value();
  ASSERT_FALSE(space.list(1 << 20));
  Random random(3);
  int high = 0;
  for (int i = 0; i < 2000; ++i) high += (*sample(space, random))[0] >= 128;
  EXPECT_GT(high, 1360);
  EXPECT_LT(high, 1640);
}

TEST(Space, FindsTheFewPointsOfATightSpace) {
  // One sum and one product over twelve tunables: rejection would need about 10^11 attempts.
  std::string sum = "T0", product_of = "(T0 + 1)";
  for (int i = 1; i < 12; ++i) {
    sum += " + T" + std::to_string(i);
    product_of += " * (T" + std::to_string(i) + " + 1)";
  }
  const Space space = Space::make(product(12, counted(10), {sum + " <= 3", product_of + " >= 4"})).value();
  Random random(5);
  for (int i = 0; i < 20; ++i) {
    const auto point = sample(space, random);
    ASSERT_TRUE(point);
    EXPECT_TRUE(space.valid(*point));
  }
}

TEST(Space, ProvesAcrossManyTunablesThatNothingIsValid) {
  // 2^40 combinations, none of which reaches the sum: seen from ranges, not by trying.
  std::string sum = "T0";
  for (int i = 1; i < 40; ++i) sum += " + T" + std::to_string(i);
  EXPECT_TRUE(Space::make(product(40, {1, 2}, {sum + " > 80"})).value().empty());
  EXPECT_FALSE(Space::make(product(40, {1, 2}, {sum + " >= 80"})).value().empty());
}

TEST(Space, SamplesTunablesWithThousandsOfValuesInALine) {
  const Space space = Space::make(product(3, counted(10'000), {"T0 + T1 + T2 == 12345"})).value();
  Random random(5);
  std::size_t budget = 1 << 18;
  int found = 0;
  while (budget > 0)
    if (const auto point = space.sample(random, budget)) {
      EXPECT_TRUE(space.valid(*point));
      ++found;
    }
  EXPECT_GE(found, 5);
}

TEST(Space, GivesUpWithinItsBudgetWhereValidPointsAreTooRare) {
  // Only powers of two multiply to one: 9 of 256 values each, which no range shows.
  std::string power = "T0";
  for (int i = 1; i < 8; ++i) power += " * T" + std::to_string(i);
  const Space space = Space::make(product(8, counted(256, 1), {power + " == 1048576"})).value();
  Random random(5);
  std::size_t budget = 1 << 14;
  const auto point = space.sample(random, budget);
  EXPECT_TRUE(!point || space.valid(*point));
  EXPECT_TRUE(point || budget == 0);
}

TEST(Space, KnowsThatASpaceIsEmpty) {
  EXPECT_TRUE(Space::make(product(2, {1, 2}, {"T0 * T1 == 3"})).value().empty());
  EXPECT_TRUE(Space::make(product(30, {1, 2}, {"T28 + T29 > 4"})).value().empty());
  EXPECT_FALSE(Space::make(product(30, {1, 2}, {"T28 + T29 > 3"})).value().empty());
}

TEST(Space, TakesAConstraintThatCannotBeEvaluatedAsExcluding) {
  const Space space = Space::make({{{"A", {0, 1, 2}}}, {expression("4 % A == 0")}}).value();
  EXPECT_EQ(space.list(10)->size(), 2);
}

TEST(Space, RefusesWhatCannotBeSearched) {
  EXPECT_THAT(Space::make({{{"A", {}}}, {}}).error().message, HasSubstr("'A' has no values"));
  EXPECT_THAT(Space::make({{{"A", {1}}, {"A", {2}}}, {}}).error().message, HasSubstr("'A' is declared twice"));
  EXPECT_THAT(Space::make({{{"A", {1}}}, {expression("A < LIMIT")}}).error().message, HasSubstr("LIMIT"));
  EXPECT_THAT(Space::make({{{"A", {1}}}, {expression("1 > 2")}}).error().message, HasSubstr("'1 > 2' is never met"));
}

TEST(Space, NeighboursAreTheValidPointsWithOneTunableChanged) {
  const Space space = Space::make(product(2, counted(4), {"T0 + T1 <= 3"})).value();
  const Point origin{0, 3};
  std::set<Point> found;
  for (const Point& point : space.neighbours(origin)) found.insert(point);
  EXPECT_EQ(found, (std::set<Point>{{0, 0}, {0, 1}, {0, 2}}));
}

TEST(Space, MutationsChangeExactlyAsManyTunablesAsAsked) {
  const Space space = Space::make(product(5, counted(3))).value();
  Random random(2);
  for (std::size_t changes = 1; changes <= 5; ++changes) {
    const auto mutant = space.mutate(Point(5, 1), changes, random);
    ASSERT_TRUE(mutant);
    EXPECT_EQ(std::count_if(mutant->begin(), mutant->end(), [](std::uint32_t c) { return c != 1; }),
              static_cast<std::ptrdiff_t>(changes));
  }
  EXPECT_FALSE(space.mutate(Point(5, 1), 6, random));
}

TEST(Space, LocatesOnlyPointsOfItsOwn) {
  const Space space = Space::make({{{"A", {1, 2}}, {"B", {5}}}, {}}).value();
  EXPECT_EQ(space.locate({{"A", 2}, {"B", 5}}), (Point{1, 0}));
  EXPECT_FALSE(space.locate({{"A", 3}, {"B", 5}}));
  EXPECT_FALSE(space.locate({{"A", 2}}));
  EXPECT_FALSE(space.locate({{"A", 2}, {"C", 5}}));
  EXPECT_FALSE(space.locate({{"A", 2}, {"B", 5}, {"C", 5}}));
}

}  // namespace
}  // namespace kagent::proposer
