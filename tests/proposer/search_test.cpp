// SPDX-License-Identifier: Apache-2.0
#include "proposer/search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proposer/spaces.h"

namespace kagent::proposer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Measure = std::function<std::optional<double>(const TunableValues&)>;

double of(const TunableValues& values, const char* name) {
  return static_cast<double>(values.at(name));
}

// Runs the search as the loop does, batch after batch.
std::vector<Observation> search(const SearchSpace& space, const Measure& measure, int evaluations, int width,
                                std::uint64_t seed) {
  std::vector<Observation> observations;
  while (static_cast<int>(observations.size()) < evaluations) {
    const auto points = propose_points(space, observations, width, seed).value();
    if (points.empty()) break;
    for (const ProposedPoint& point : points)
      observations.push_back({point.values, measure(point.values), false, point.strategy});
  }
  return observations;
}

double best(const std::vector<Observation>& observations) {
  double least = INFINITY;
  for (const Observation& observation : observations) least = std::min(least, observation.score.value_or(INFINITY));
  return least;
}

std::set<TunableValues> distinct(const std::vector<Observation>& observations) {
  std::set<TunableValues> values;
  for (const Observation& observation : observations) values.insert(observation.values);
  return values;
}

TEST(ProposePoints, VisitsEveryValidPointOfASmallSpaceOnceAndEnds) {
  const SearchSpace space = product(3, counted(5), {"T0 + T1 <= 5"});
  const auto observations = search(
      space, [](const TunableValues& v) { return 1.0 + of(v, "T0") * of(v, "T2"); }, 1000, 8, 1);
  EXPECT_THAT(observations, SizeIs(19 * 5));
  EXPECT_THAT(distinct(observations), SizeIs(19 * 5));
}

TEST(ProposePoints, EndsWhenEveryPointFails) {
  const auto observations = search(
      product(2, counted(6)), [](const TunableValues&) { return std::nullopt; }, 1000, 7, 1);
  EXPECT_THAT(distinct(observations), SizeIs(36));
}

TEST(ProposePoints, HandlesOneTunableAndOnePoint) {
  EXPECT_THAT(search(
                  product(1, {64, 128, 256}), [](const TunableValues&) { return 1.0; }, 100, 8, 1),
              SizeIs(3));
  EXPECT_THAT(search(
                  product(2, {64}), [](const TunableValues&) { return 1.0; }, 100, 8, 1),
              SizeIs(1));
  EXPECT_THAT(search(
                  product(4, {1, 1000000007}), [](const TunableValues&) { return 1.0; }, 100, 8, 1),
              SizeIs(16));
}

TEST(ProposePoints, IsTheSameForTheSameArgumentsAndAnotherForAnotherSeed) {
  const SearchSpace space = product(6, {1, 2, 4, 8, 16});
  const Measure measure = [](const TunableValues& v) { return 1.0 + of(v, "T0") + 16.0 / of(v, "T1"); };
  const auto observations = search(space, measure, 32, 8, 1);
  EXPECT_EQ(distinct(observations), distinct(search(space, measure, 32, 8, 1)));
  EXPECT_NE(distinct(observations), distinct(search(space, measure, 32, 8, 2)));
}

TEST(ProposePoints, SaysThatASpaceIsEmpty) {
  const auto points = propose_points(product(2, {1, 2}, {"T0 * T1 == 3"}), {}, 8, 1);
  ASSERT_FALSE(points);
  EXPECT_THAT(points.error().message, HasSubstr("no combination"));
  EXPECT_FALSE(points.error().fix.empty());
}

TEST(ProposePoints, FindsTheBestOfASmoothSpaceOfBillions) {
  // Ten tunables with ten values each: 10^10 points, the optimum 1 in the middle.
  const Measure measure = [](const TunableValues& values) {
    double time = 1;
    for (const auto& [name, value] : values) time += 0.05 * std::abs(static_cast<double>(value) - 6);
    return time;
  };
  EXPECT_LT(best(search(product(10, counted(10)), measure, 200, 8, 1)), 1.25);  // random search: about 1.8
}

TEST(ProposePoints, LearnsWhereCandidatesFail) {
  // Three quarters fail: large tiles do not launch. Once that is seen, most proposals work.
  const Measure measure = [](const TunableValues& v) -> std::optional<double> {
    if (of(v, "T0") + of(v, "T1") > 14) return std::nullopt;
    return 1.0 + 0.1 * std::abs(of(v, "T2") - 7) + 2.0 / (1 + of(v, "T0") + of(v, "T1"));
  };
  const auto observations = search(product(4, counted(20)), measure, 160, 8, 1);
  const auto failed =
      std::count_if(observations.end() - 80, observations.end(), [](const Observation& o) { return !o.score; });
  EXPECT_LT(failed, 40);
}

TEST(ProposePoints, BearsDuplicatesNoiseForeignPointsAndImpossibleTimes) {
  const SearchSpace space = product(3, counted(8));
  std::vector<Observation> observations;
  for (int i = 0; i < 40; ++i) {
    const TunableValues values{{"T0", i % 4}, {"T1", i % 3}, {"T2", i % 2}};
    observations.push_back({values, 100.0 + i, false, std::nullopt});
    if (i % 5 == 0) observations.push_back({values, std::nullopt, false, std::nullopt});
  }
  observations.push_back({{{"ELSE", 1}}, 1.0, false, std::nullopt});
  observations.push_back({{{"T0", 99}, {"T1", 0}, {"T2", 0}}, 1.0, false, std::nullopt});
  for (double time : {0.0, -1.0, std::nan(""), HUGE_VAL})
    observations.push_back({{{"T0", 7}, {"T1", 7}, {"T2", 7}}, time, false, std::nullopt});
  const auto points = propose_points(space, observations, 16, 1).value();
  EXPECT_THAT(points, SizeIs(16));
  const std::set<TunableValues> known = distinct(observations);
  for (const ProposedPoint& point : points) EXPECT_FALSE(known.contains(point.values));
}

TEST(ProposePoints, NeverRepeatsATrialWithoutAnswer) {
  const SearchSpace space = product(1, counted(4));
  const std::vector<Observation> observations{{{{"T0", 2}}, std::nullopt, true, std::nullopt}};
  const auto points = propose_points(space, observations, 8, 1).value();
  EXPECT_THAT(points, SizeIs(3));
  for (const ProposedPoint& point : points) EXPECT_NE(point.values.at("T0"), 2);
}

TEST(ProposePoints, ProposesOnlyValidDistinctPointsInAHugeConstrainedSpace) {
  const SearchSpace space = product(20, {1, 2, 4, 8}, {"T0 * T1 * T2 * T3 == 64", "T4 <= T5", "T18 != T19"});
  const Measure measure = [](const TunableValues& v) { return 1.0 + of(v, "T0") / of(v, "T5"); };
  const auto observations = search(space, measure, 64, 16, 1);
  EXPECT_THAT(distinct(observations), SizeIs(64));
  for (const Observation& o : observations) {
    const TunableValues& v = o.values;
    EXPECT_EQ(v.at("T0") * v.at("T1") * v.at("T2") * v.at("T3"), 64);
    EXPECT_LE(v.at("T4"), v.at("T5"));
    EXPECT_NE(v.at("T18"), v.at("T19"));
  }
}

class SearchProposer : public testing::Test {
 protected:
  Result<std::vector<Candidate>> propose(int width) {
    return make_search_proposer()->propose({spec_, source_, history_, 1}, width);
  }
  void record(const Candidate& candidate, Outcome outcome, std::optional<double> score) {
    Trial trial;
    trial.candidate = candidate;
    trial.outcome = outcome;
    trial.score = score;
    history_.push_back(trial);
  }

  KernelSpec spec_;
  std::string source_ = "void f();\n";
  std::vector<Trial> history_;
};

TEST_F(SearchProposer, ProposesTheSourceWithOtherTunablesAndSaysWhy) {
  spec_.tunables = product(3, counted(10)).tunables;
  const auto candidates = propose(4).value();
  ASSERT_THAT(candidates, SizeIs(4));
  for (const Candidate& candidate : candidates) {
    EXPECT_EQ(candidate.source, source_);
    EXPECT_THAT(candidate.tunables, SizeIs(3));
    EXPECT_EQ(candidate.proposer, "search");
    EXPECT_THAT(candidate.hypothesis, HasSubstr("exploration"));
  }
}

TEST_F(SearchProposer, ProposesNothingWithoutTunables) {
  EXPECT_THAT(propose(8).value(), IsEmpty());
}

TEST_F(SearchProposer, GoesOnFromTheHistoryUntilNothingIsLeft) {
  spec_.tunables = product(2, counted(9)).tunables;
  spec_.constraints = {expression("T0 != T1")};
  std::set<TunableValues> seen;
  std::set<std::string> kinds;
  while (true) {
    const auto candidates = propose(8).value();
    if (candidates.empty()) break;
    for (const Candidate& candidate : candidates) {
      EXPECT_TRUE(seen.insert(candidate.tunables).second);
      kinds.insert(candidate.hypothesis.substr(0, candidate.hypothesis.find_first_of(" :")));
      const std::int64_t sum = candidate.tunables.at("T0") + candidate.tunables.at("T1");
      if (sum > 14)
        record(candidate, Outcome::compile_failed, std::nullopt);
      else
        record(candidate, Outcome::slower, 100.0 + static_cast<double>(sum));
    }
  }
  EXPECT_THAT(seen, SizeIs(72));
  EXPECT_THAT(kinds, testing::Contains("surrogate"));
  EXPECT_THAT(kinds, testing::Contains("neighbour"));
}

TEST_F(SearchProposer, LearnsNothingFromTrialsOfAnotherSource) {
  spec_.tunables = product(1, counted(3)).tunables;
  record({"another text", {{"T0", 1}}, "model", ""}, Outcome::ok, 1.0);
  EXPECT_THAT(propose(8).value(), SizeIs(3));
}

}  // namespace
}  // namespace kagent::proposer
