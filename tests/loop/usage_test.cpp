// SPDX-License-Identifier: Apache-2.0
#include "loop/usage.h"

#include <gtest/gtest.h>

namespace kagent::loop {
namespace {

Trial attempt(const std::string& source, std::int64_t tokens, bool passed) {
  Trial trial;
  trial.candidate = {source, {}, "openai", "less work"};
  trial.candidate.change = "without the inner loop";
  trial.candidate.usage.input_tokens = tokens;
  trial.candidate.usage.cost = 0.5;
  trial.outcome = passed ? Outcome::ok : Outcome::compile_failed;
  if (passed) trial.score = 0.5;
  return trial;
}

TEST(UsageBehind, counts_the_failed_attempts_that_were_repaired_on_the_way) {
  const std::vector<Trial> history{attempt("a", 1000, false), attempt("b", 200, false), attempt("c", 30, true)};
  const Usage usage = usage_behind(history, history.back());
  EXPECT_EQ(usage.input_tokens, 1230);
  EXPECT_EQ(usage.cost, 1.5);
}

TEST(UsageBehind, leaves_out_other_ideas_and_attempts_that_came_later_or_passed) {
  std::vector<Trial> history{attempt("other", 1, false), attempt("passed", 2, true), attempt("c", 30, true),
                             attempt("later", 4, false)};
  history[0].candidate.change = "wider loads";
  EXPECT_EQ(usage_behind(history, history[2]).input_tokens, 30);
  history[0].candidate.change = history[2].candidate.change;
  history[0].candidate.parent = "abc";
  EXPECT_EQ(usage_behind(history, history[2]).input_tokens, 30);
}

TEST(UsageBehind, of_a_point_of_the_search_is_that_of_the_source_whose_tunables_it_sets) {
  std::vector<Trial> history{attempt("a", 1000, false), attempt("c", 30, true), attempt("c", 0, true)};
  Trial& point = history.back();
  point.candidate.usage = {};
  point.candidate.tunables = {{"BLOCK", 64}};
  point.candidate.hypothesis = "a step; of: less work";
  EXPECT_EQ(usage_behind(history, point).input_tokens, 1030);
}

TEST(UsageBehind, of_sources_without_a_hypothesis_is_their_own) {
  std::vector<Trial> history{attempt("a", 1000, false), attempt("c", 30, true)};
  for (Trial& trial : history) trial.candidate.hypothesis.clear();
  EXPECT_EQ(usage_behind(history, history.back()).input_tokens, 30);
}

}  // namespace
}  // namespace kagent::loop
