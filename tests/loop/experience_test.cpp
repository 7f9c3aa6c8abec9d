// SPDX-License-Identifier: Apache-2.0
#include "loop/experience.h"

#include <gmock/gmock.h>

namespace kagent::loop {
namespace {

Lesson lesson(const std::string& pattern, const std::string& architecture, double effect, const std::string& from) {
  return {pattern, "a change", effect, effect < 1 ? Outcome::ok : Outcome::slower, architecture, {"fp32"}, from};
}

TEST(Experience, files_lessons_under_the_costliest_pattern) {
  Bottleneck one, two;
  one.time_ns = 10;
  one.limited_by = "latency";
  two.time_ns = 5;
  EXPECT_EQ(pattern_of({}), kUnknownPattern);
  Bottleneck unclear;
  unclear.limited_by = "not known";
  EXPECT_EQ(pattern_of({unclear}), kUnknownPattern);
  EXPECT_EQ(pattern_of({one, two}), "latency");
  two.patterns = {{"bank-conflicts", 0.4, "", "", ""}, {"spills", 0.1, "", "", ""}};
  EXPECT_EQ(pattern_of({one, two}), "bank-conflicts");
}

TEST(Experience, learns_from_what_was_measured_and_from_what_was_wrong_but_not_from_typing_errors) {
  Trial trial;
  trial.kernel = "softmax";
  trial.architecture = "sm_90";
  trial.candidate_hash = "0123456789abcdef";
  trial.candidate.change = "rows in registers";
  trial.score = 0.4;
  const auto learnt = lesson_of(trial, 0.5, "latency", {"fp16"});
  ASSERT_TRUE(learnt);
  EXPECT_NEAR(learnt->effect, 0.8, 1e-9);
  EXPECT_EQ(learnt->from, "softmax 0123456789ab");
  trial.outcome = Outcome::wrong_result;
  trial.score.reset();
  EXPECT_TRUE(lesson_of(trial, 0.5, "latency", {}));
  trial.outcome = Outcome::compile_failed;
  EXPECT_FALSE(lesson_of(trial, 0.5, "latency", {}));
  trial.outcome = Outcome::ok;
  trial.candidate.change.clear();
  EXPECT_FALSE(lesson_of(trial, 0.5, "latency", {}));
}

TEST(Experience, offers_what_fits_best_and_is_not_in_the_history) {
  const std::vector<Lesson> all{lesson("spills", "sm_80", 0.9, "norm 1"), lesson("latency", "sm_90", 0.7, "norm 2"),
                                lesson("latency", "sm_90", 0.5, "softmax 3"),
                                lesson("latency", "sm_90", 0.6, "softmax 4")};
  Trial known;  // the other one was tried before the source was edited
  known.kernel = "softmax";
  known.candidate_hash = "3";
  const auto chosen = relevant_lessons(all, "sm_90", {"fp32"}, "latency", {known}, 5);
  ASSERT_EQ(chosen.size(), 3u);
  EXPECT_EQ(chosen[0].from, "norm 2");
  EXPECT_EQ(chosen[1].from, "softmax 4");
  EXPECT_EQ(relevant_lessons(all, "sm_90", {"fp32"}, "latency", {known}, 1).size(), 1u);
}

TEST(Experience, forecasts_nothing_from_nothing) {
  const Forecast hope = forecast({}, {}, "latency");
  EXPECT_EQ(hope.chance, 0.5);
  EXPECT_FALSE(hope.wasted);
}

TEST(Experience, gives_a_model_up_after_many_failures_and_says_why) {
  EXPECT_FALSE(forecast(std::vector<bool>(10, false), {}, "latency").wasted);
  const Forecast hope = forecast(std::vector<bool>(20, false), {}, "latency");
  EXPECT_TRUE(hope.wasted);
  EXPECT_THAT(hope.text, testing::HasSubstr("0 of 20"));
  std::vector<bool> with_one(20, false);
  with_one[3] = true;
  EXPECT_FALSE(forecast(with_one, {}, "latency").wasted);
}

TEST(Experience, counts_lessons_of_others_against_the_same_pattern_for_half) {
  std::vector<Lesson> failures(40, lesson("latency", "sm_90", 1.1, "norm 1"));
  EXPECT_TRUE(forecast({}, failures, "latency").wasted);
  EXPECT_FALSE(forecast({}, failures, "spills").wasted);
  const std::vector<Lesson> unclear(40, lesson(kUnknownPattern, "sm_90", 1.1, "norm 1"));
  EXPECT_FALSE(forecast({}, unclear, kUnknownPattern).wasted);
}

}  // namespace
}  // namespace kagent::loop
