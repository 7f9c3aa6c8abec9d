// SPDX-License-Identifier: Apache-2.0
#include "loop/archive.h"

#include <set>

#include <gmock/gmock.h>

namespace kagent::loop {
namespace {

Trial trial(const std::string& source, std::optional<double> score, Outcome outcome = Outcome::ok) {
  Trial trial;
  trial.candidate.source = source;
  trial.candidate_hash = "hash of " + source;
  trial.score = score;
  trial.outcome = outcome;
  trial.error_over_bound = 0.5;
  return trial;
}

double by_first_letter(const Candidate& a, const Candidate& b) {
  return a.source.front() == b.source.front() ? 0 : 1;
}

TEST(Archive, holds_the_baseline_where_nothing_passed) {
  const Archive archive("baseline", {trial("a", std::nullopt, Outcome::crashed)}, by_first_letter);
  EXPECT_EQ(archive.size(), 1u);
  EXPECT_EQ(archive.best().candidate.source, "baseline");
  EXPECT_EQ(archive.best().hash, "");
}

TEST(Archive, keeps_the_best_values_of_each_source) {
  Trial first = trial("a", 0.8), second = trial("a", 0.6);
  first.candidate.tunables = {{"X", 1}};
  second.candidate.tunables = {{"X", 2}};
  const Archive archive("baseline", {first, second}, by_first_letter);
  EXPECT_EQ(archive.size(), 2u);
  EXPECT_EQ(archive.best().candidate.tunables.at("X"), 2);
}

TEST(Archive, leaves_out_what_judging_found_wrong) {
  const Archive archive("baseline", {trial("a", 0.5, Outcome::wrong_result)}, by_first_letter);
  EXPECT_EQ(archive.best().candidate.source, "baseline");
}

TEST(Archive, parents_are_the_best_and_then_one_that_is_unlike_it) {
  const Archive archive("baseline", {trial("ax", 0.50), trial("ay", 0.51), trial("cz", 0.6)}, by_first_letter);
  const auto parents = archive.parents(2);
  ASSERT_EQ(parents.size(), 2u);
  EXPECT_EQ(parents[0].candidate.source, "ax");
  EXPECT_EQ(parents[1].candidate.source, "cz");
  EXPECT_EQ(archive.parents(10).size(), 4u);
}

TEST(Archive, breeds_the_same_generation_for_the_same_seed_and_crosses_different_parents) {
  const Archive archive("baseline", {trial("a", 0.5), trial("b", 0.6), trial("c", 0.7)}, by_first_letter);
  const auto generation = archive.generation(20, 3);
  ASSERT_EQ(generation.size(), 20u);
  EXPECT_EQ(generation.front().parent.candidate.source, "a");
  int crossed = 0;
  for (const auto& mating : generation)
    if (mating.second) {
      ++crossed;
      EXPECT_NE(mating.parent.hash, mating.second->hash);
    }
  EXPECT_GT(crossed, 0);
  EXPECT_LT(crossed, 20);
  const auto again = archive.generation(20, 3);
  for (std::size_t i = 0; i < again.size(); ++i) EXPECT_EQ(again[i].parent.hash, generation[i].parent.hash);
}

TEST(Reward, puts_speed_before_length_and_margin) {
  const Trial fast = trial(std::string(200, 'a'), 0.9), plain = trial(std::string(100, 'b'), 1.0);
  EXPECT_GT(reward_of(fast, 100).total(), reward_of(plain, 100).total());
}

TEST(Reward, prefers_the_shorter_and_the_more_exact_among_equals) {
  const Trial short_one = trial(std::string(100, 'a'), 0.9);
  EXPECT_GT(reward_of(short_one, 100).total(), reward_of(trial(std::string(400, 'a'), 0.9), 100).total());
  Trial exact = short_one;
  exact.error_over_bound = 0;
  EXPECT_GT(reward_of(exact, 100).total(), reward_of(short_one, 100).total());
}

TEST(Reward, of_a_failure_is_below_that_of_anything_that_passed_and_grows_with_the_way_it_went) {
  const auto total = [](Outcome outcome) { return reward_of(trial("a", std::nullopt, outcome), 1).total(); };
  EXPECT_LT(total(Outcome::gate_rejected), total(Outcome::compile_failed));
  EXPECT_LT(total(Outcome::compile_failed), total(Outcome::crashed));
  EXPECT_LT(total(Outcome::crashed), total(Outcome::wrong_result));
  EXPECT_LT(total(Outcome::wrong_result), reward_of(trial("a", 1.5), 1).total());
}

}  // namespace
}  // namespace kagent::loop
