// SPDX-License-Identifier: Apache-2.0
#include "loop/reflection.h"

#include <gmock/gmock.h>

namespace kagent::loop {
namespace {

using ::testing::HasSubstr;

Trial written(std::optional<double> score, std::optional<double> expected) {
  Trial trial;
  trial.candidate.change = "wider loads";
  trial.candidate.expected_speedup = expected;
  trial.score = score;
  return trial;
}

TEST(Reflection, of_the_search_is_empty) {
  Trial trial;
  trial.score = 0.5;
  EXPECT_EQ(reflect(trial, 1), "");
}

TEST(Reflection, compares_with_the_parent_and_not_with_the_baseline) {
  const std::string text = reflect(written(0.4, 1.25), 0.5);
  EXPECT_THAT(text, HasSubstr("expected 1.25x"));
  EXPECT_THAT(text, HasSubstr("measured 1.25x over its parent, 2.50x over the baseline"));
  EXPECT_THAT(text, HasSubstr("as expected"));
}

TEST(Reflection, says_when_the_hypothesis_was_wrong) {
  EXPECT_THAT(reflect(written(1.2, 1.5), 1), HasSubstr("the opposite"));
  EXPECT_THAT(reflect(written(1.001, 1.5), 1), HasSubstr("no effect"));
  EXPECT_THAT(reflect(written(0.9, 1.5), 1), HasSubstr("less than expected"));
  EXPECT_THAT(reflect(written(0.5, 1.1), 1), HasSubstr("more than expected"));
}

TEST(Reflection, of_a_failure_names_its_outcome) {
  Trial trial = written(std::nullopt, 1.5);
  trial.outcome = Outcome::wrong_result;
  EXPECT_THAT(reflect(trial, 1), HasSubstr("ended as wrong_result"));
}

}  // namespace
}  // namespace kagent::loop
