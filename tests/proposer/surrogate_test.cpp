// SPDX-License-Identifier: Apache-2.0
#include "proposer/surrogate.h"

#include <cmath>

#include <gtest/gtest.h>

#include "proposer/forest.h"
#include "proposer/gaussian_process.h"

namespace kagent::proposer {
namespace {

Rows line(int count) {
  Rows rows{1, {}};
  for (int i = 0; i < count; ++i) *rows.append() = static_cast<double>(i) / (count - 1);
  return rows;
}

std::vector<double> waves(const Rows& rows) {
  std::vector<double> targets;
  for (double x : rows.numbers) targets.push_back(std::sin(6 * x));
  return targets;
}

TEST(LogExpectedImprovement, AgreesWithTheFormulaAndItsSeriesMeets) {
  // E[max(0, -N)] of a standard normal is 1 / sqrt(2 pi).
  EXPECT_NEAR(log_expected_improvement({0, 1}, 0), std::log(0.3989422804), 1e-9);
  EXPECT_NEAR(log_expected_improvement({0, 1}, 3), std::log(3.000382154), 1e-6);
  EXPECT_NEAR(log_expected_improvement({4.9999, 1}, 0), log_expected_improvement({5.0001, 1}, 0), 0.01);
}

TEST(LogExpectedImprovement, StaysFiniteAndOrderedFarAway) {
  EXPECT_TRUE(std::isfinite(log_expected_improvement({1e9, 1e-9}, 0)));
  EXPECT_GT(log_expected_improvement({40, 1}, 0), log_expected_improvement({41, 1}, 0));
  EXPECT_GT(log_expected_improvement({40, 2}, 0), log_expected_improvement({40, 1}, 0));
}

TEST(GaussianProcess, PredictsASmoothFunctionBetweenItsPoints) {
  const Rows rows = line(12);
  Random random(1);
  const GaussianProcess process(rows, waves(rows), random);
  ASSERT_TRUE(process.usable());
  for (double x : {0.05, 0.33, 0.71}) EXPECT_NEAR(process.sketch(&x).mean, std::sin(6 * x), 0.05);
}

TEST(GaussianProcess, ASelectionAgreesWithTheSketchAndKnowsMore) {
  const Rows rows = line(12);
  Random random(1);
  const GaussianProcess process(rows, waves(rows), random);
  const Rows between{1, {0.05, 0.5, 1.5}};
  const GaussianProcess::Selection selection(process, between);
  for (std::size_t i = 0; i < between.count(); ++i) {
    EXPECT_NEAR(selection.belief(i).mean, process.sketch(between.row(i)).mean, 1e-6);
    EXPECT_LE(selection.belief(i).deviation, process.sketch(between.row(i)).deviation + 1e-9);
  }
  EXPECT_GT(selection.belief(2).deviation, selection.belief(0).deviation);
}

TEST(GaussianProcess, AChoiceMakesItsSurroundingsCertainAndLeavesMeansAlone) {
  const Rows rows = line(4);
  Random random(1);
  const GaussianProcess process(rows, waves(rows), random);
  GaussianProcess::Selection selection(process, {1, {1.5, 1.51, -2.0}});
  const Belief near = selection.belief(1), far = selection.belief(2);
  selection.choose(0);
  EXPECT_LT(selection.belief(1).deviation, near.deviation / 2);
  EXPECT_NEAR(selection.belief(2).deviation, far.deviation, far.deviation / 10);
  EXPECT_EQ(selection.belief(1).mean, near.mean);
}

TEST(GaussianProcess, BearsEqualTargetsAndEqualRows) {
  Random random(1);
  const GaussianProcess flat(line(5), std::vector<double>(5, 2.5), random);
  const double x = 0.4;
  ASSERT_TRUE(flat.usable());
  EXPECT_NEAR(flat.sketch(&x).mean, 2.5, 1e-6);
  const GaussianProcess repeated({1, {0.4, 0.4, 0.4}}, {1.0, 2.0, 3.0}, random);
  ASSERT_TRUE(repeated.usable());
  EXPECT_NEAR(repeated.sketch(&x).mean, 2.0, 0.1);
}

TEST(Forest, LearnsACliff) {
  Rows rows{2, {}};
  std::vector<double> targets;
  Random random(1);
  for (int i = 0; i < 80; ++i) {
    double* row = rows.append();
    row[0] = random.uniform();
    row[1] = random.uniform();
    targets.push_back(row[0] < 0.5 ? 0 : 1);
  }
  const Forest forest(rows, targets, 50, random);
  const std::vector<double> low{0.2, 0.9}, high{0.8, 0.1};
  EXPECT_LT(forest.predict(low.data()).mean, 0.1);
  EXPECT_GT(forest.predict(high.data()).mean, 0.9);
}

TEST(Forest, IsLessSureWhereItsTreesDisagree) {
  const Rows rows{1, {0, 0.1, 0.9, 1}};
  Random random(1);
  const Forest forest(rows, {0, 0, 1, 1}, 50, random);
  const double known = 0.05, unknown = 0.5;
  EXPECT_GT(forest.predict(&unknown).deviation, 5 * forest.predict(&known).deviation);
}

TEST(Representative, KeepsTheBestAndTheWideView) {
  std::vector<double> targets;
  for (int i = 0; i < 100; ++i) targets.push_back(99 - i);
  const std::vector<std::size_t> chosen = representative(targets, 10);
  ASSERT_EQ(chosen.size(), 10);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(targets[chosen[i]], static_cast<double>(i));
  EXPECT_GT(targets[chosen[9]], 70);
  EXPECT_EQ(representative(targets, 200).size(), 100);
}

}  // namespace
}  // namespace kagent::proposer
