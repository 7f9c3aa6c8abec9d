// SPDX-License-Identifier: Apache-2.0
#include "loop/numeric.h"

#include <set>

#include <gmock/gmock.h>

namespace kagent::loop {
namespace {

KernelSpec spec_with(const std::vector<Tunable>& tunables) {
  KernelSpec spec;
  spec.tunables = tunables;
  return spec;
}

Candidate written() {
  Candidate candidate;
  candidate.source = "new source";
  candidate.proposer = "agent";
  candidate.hypothesis = "tiles";
  candidate.own_tunables = {{"TILE", {4, 8, 16}}};
  return candidate;
}

TEST(Numeric, varies_the_spec_s_tunables_and_the_candidate_s_own_together) {
  const auto candidates = numeric_candidates(written(), spec_with({{"BLOCK", {1, 2}}}), {}, 100, 7);
  ASSERT_TRUE(candidates) << candidates.error().message;
  std::set<TunableValues> points;
  for (const Candidate& one : *candidates) {
    EXPECT_EQ(one.source, "new source");
    EXPECT_THAT(one.hypothesis, testing::HasSubstr("; of: tiles"));
    points.insert(one.tunables);
  }
  EXPECT_EQ(points.size(), 6u);
}

TEST(Numeric, keeps_to_the_constraints_of_the_candidate) {
  Candidate candidate = written();
  candidate.own_constraints = {"TILE * BLOCK <= 8"};
  const auto candidates = numeric_candidates(candidate, spec_with({{"BLOCK", {1, 2}}}), {}, 100, 7);
  ASSERT_TRUE(candidates);
  EXPECT_EQ(candidates->size(), 3u);
}

TEST(Numeric, names_a_constraint_that_cannot_be_read) {
  Candidate candidate = written();
  candidate.own_constraints = {"TILE = 8"};
  const auto candidates = numeric_candidates(candidate, spec_with({}), {}, 4, 7);
  ASSERT_FALSE(candidates);
  EXPECT_THAT(candidates.error().message, testing::HasSubstr("TILE = 8"));
}

TEST(Numeric, does_not_repeat_what_was_tried_of_this_source) {
  Trial tried;
  tried.candidate = written();
  tried.candidate.tunables = {{"TILE", 8}};
  tried.score = 0.5;
  Trial of_another = tried;
  of_another.candidate.source = "old source";
  of_another.candidate.tunables = {{"TILE", 16}};
  const auto candidates = numeric_candidates(written(), spec_with({}), {tried, of_another}, 10, 7);
  ASSERT_TRUE(candidates);
  std::set<std::int64_t> tiles;
  for (const Candidate& one : *candidates) tiles.insert(one.tunables.at("TILE"));
  EXPECT_THAT(tiles, testing::ElementsAre(4, 16));
}

TEST(Numeric, of_a_source_without_tunables_gives_nothing) {
  Candidate candidate = written();
  candidate.own_tunables.clear();
  const auto candidates = numeric_candidates(candidate, spec_with({}), {}, 4, 7);
  ASSERT_TRUE(candidates);
  EXPECT_TRUE(candidates->empty());
}

TEST(Numeric, first_values_meet_the_constraints) {
  Candidate candidate = written();
  complete_tunables(candidate, spec_with({}));
  EXPECT_EQ(candidate.tunables.at("TILE"), 4);
  candidate = written();
  candidate.own_constraints = {"TILE >= 16"};
  complete_tunables(candidate, spec_with({}));
  EXPECT_EQ(candidate.tunables.at("TILE"), 16);
  candidate.tunables = {{"TILE", 16}, {"BLOCK", 2}};
  complete_tunables(candidate, spec_with({{"BLOCK", {1, 2}}}));
  EXPECT_EQ(candidate.tunables.at("BLOCK"), 2);
}

TEST(Numeric, launches_tell_families_apart) {
  Candidate plain = written(), other = written();
  other.tunables = {{"TILE", 8}};
  EXPECT_TRUE(same_family(plain, other));
  const auto one = *Expression::parse("1");
  other.launch =
      Launch{.grid = {one, one, one}, .block = {one, one, one}, .cluster = {}, .shared_memory = {}, .instance = ""};
  EXPECT_FALSE(same_family(plain, other));
}

}  // namespace
}  // namespace kagent::loop
