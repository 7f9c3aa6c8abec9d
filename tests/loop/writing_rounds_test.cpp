// SPDX-License-Identifier: Apache-2.0
#include "loop/writing_rounds.h"

#include <thread>

#include <gmock/gmock.h>

#include "loop/writing_rounds_fixture.h"
#include "store/lesson_store.h"

namespace kagent::loop {
namespace {

using proposer::model::ChatError;
using proposer::model::ChatErrorKind;
using ::testing::Contains;
using ::testing::HasSubstr;

TEST_F(WritingRoundsTest, a_written_candidate_is_kept_with_what_was_expected_and_measured) {
  fake_->answers = {{written(kFast)}};
  std::vector<Brief> briefs;
  fake_->before_answering = [&] { briefs = fake_->briefs; };
  const TuningResult result = run();
  ASSERT_TRUE(result.variant) << result.reason;
  int of_fake = 0;
  for (const Trial& trial : trials()) {
    if (trial.candidate.proposer != "fake") continue;
    ++of_fake;
    EXPECT_LT(trial.score.value_or(1), 0.6) << trial.detail;
    EXPECT_THAT(trial.reflection, HasSubstr("expected 2.00x over its parent, measured"));
  }
  EXPECT_EQ(of_fake, 1);
  ASSERT_EQ(briefs.size(), 1u);
  EXPECT_EQ(briefs[0].parent.hash, "");
  ASSERT_EQ(briefs[0].cases.size(), 1u);
  EXPECT_GT(briefs[0].cases[0].baseline_ns, 0);
  ASSERT_EQ(briefs[0].bottlenecks.size(), 1u);
  EXPECT_EQ(briefs[0].bottlenecks[0].case_name, "large");
  const auto lessons =
      require(require(store::LessonStore::open(options_.bench.state_folder / "trials.sqlite")).lessons(5));
  ASSERT_EQ(lessons.size(), 1u);
  EXPECT_EQ(lessons[0].change, "another loop");
  EXPECT_LT(lessons[0].effect, 0.6);
}

TEST_F(WritingRoundsTest, the_search_measures_while_an_answer_is_waited_for) {
  fake_->answers = {{written(kFast)}};
  fake_->before_answering = [this] {
    // Answers only once the search has measured all of its space.
    auto store = require(store::TrialStore::open(options_.bench.state_folder / "trials.sqlite"));
    while (require(store.recent("scale", 10)).size() < 4) std::this_thread::yield();
  };
  run();
  int searched = 0;
  for (const Trial& trial : trials()) searched += trial.candidate.proposer == "search";
  EXPECT_GE(searched, 4);
}

TEST_F(WritingRoundsTest, a_failure_is_given_back_at_most_twice_with_its_distilled_error) {
  without_tunables();
  fake_->answers = {{written(kBroken)}};
  fake_->repairs = {written(std::string(kHead) + "void scale(const float* x, float* y, int n) "
                                                 "{ for (int i = 0; i < n; ++i) y[i] = 3 * x[i]; }\n"),
                    written(kFast)};
  const TuningResult result = run();
  ASSERT_TRUE(result.variant) << result.reason;
  std::vector<Outcome> outcomes;
  for (const Trial& trial : trials())
    if (trial.candidate.proposer == "fake") outcomes.push_back(trial.outcome);
  EXPECT_THAT(outcomes, testing::ElementsAre(Outcome::compile_failed, Outcome::wrong_result, Outcome::ok));
  EXPECT_EQ(result.variant->evidence.usage.input_tokens, 300) << "the corrections are a part of what it cost";
}

TEST_F(WritingRoundsTest, what_nobody_corrects_is_what_failed) {
  Candidate lost = written(std::string(kHead) +
                           "void scale(const float* x, float* y, int n) "
                           "{ for (int i = 0; i < n; ++i) y[i] = 5 * x[i]; }\n");
  lost.change = "times five";
  Candidate broken = written(kBroken);
  broken.change = "no such function";
  fake_->answers = {{lost, broken}};
  fake_->loses = "times five";
  fake_->repairs = {written(kFast)};
  ASSERT_TRUE(run().variant);
  const auto lessons =
      require(require(store::LessonStore::open(options_.bench.state_folder / "trials.sqlite")).lessons(5));
  std::vector<std::pair<std::string, Outcome>> learnt;
  for (const Lesson& one : lessons) learnt.emplace_back(one.change, one.outcome);
  EXPECT_THAT(learnt, testing::UnorderedElementsAre(testing::Pair("times five", Outcome::wrong_result),
                                                    testing::Pair("another loop", Outcome::ok)));
}

TEST_F(WritingRoundsTest, a_population_asks_once_for_all_matings_of_the_same_parents) {
  options_.population = 4;
  options_.rounds = 2;
  fake_->answers = {{written(kFast)}};
  std::vector<std::pair<std::string, int>> asked;
  fake_->before_answering = [&] { asked.emplace_back(fake_->briefs.back().parent.hash, fake_->widths.back()); };
  ASSERT_TRUE(run().variant);
  ASSERT_GE(asked.size(), 2u);
  EXPECT_THAT(asked.front(), testing::Pair("", 4));
  int second = 0;
  for (std::size_t i = 1; i < asked.size(); ++i) second += asked[i].second;
  EXPECT_EQ(second, 4);
  EXPECT_NE(asked[1].first, "") << "the best of all is among the parents";
}

TEST_F(WritingRoundsTest, tunables_that_a_candidate_brings_are_searched_within_the_round) {
  Candidate candidate = written(
      "#include \"scale.h\"\n"
      "void scale(const float* x, float* y, int n) {\n"
      "  constexpr int steps = STEPS;\n"
      "  for (int i = 0; i < n; ++i) {\n"
      "    float value = x[i];\n"
      "    for (int k = 1; k < steps; ++k) {\n"
      "      volatile float kept = value;\n"
      "      value = kept;\n"
      "    }\n"
      "    y[i] = 2 * value;\n"
      "  }\n"
      "}\n");
  without_tunables();
  candidate.own_tunables = {{"STEPS", {60, 30, 1}}};
  fake_->answers = {{candidate}};
  const TuningResult result = run();
  ASSERT_TRUE(result.variant) << result.reason;
  double best = 10;
  std::int64_t steps = 0;
  for (const Trial& trial : trials())
    if (trial.candidate.tunables.contains("STEPS") && trial.score && *trial.score < best)
      best = *trial.score, steps = trial.candidate.tunables.at("STEPS");
  EXPECT_EQ(steps, 1);
  // The idea is compared with what it was applied to, not with its own first values.
  const auto lessons =
      require(require(store::LessonStore::open(options_.bench.state_folder / "trials.sqlite")).lessons(5));
  ASSERT_EQ(lessons.size(), 1u);
  EXPECT_DOUBLE_EQ(lessons[0].effect, best);
  EXPECT_EQ(result.variant->evidence.usage.input_tokens, 100);
}

TEST_F(WritingRoundsTest, a_provider_that_is_down_leaves_the_search_alone_and_says_so_once) {
  fake_->error = ChatError{.kind = ChatErrorKind::unauthorized, .message = "no such key"};
  options_.rounds = 3;
  const TuningResult result = run();
  ASSERT_TRUE(result.variant) << result.reason;
  EXPECT_EQ(result.variant->evidence.proposer, "search");
  int told = 0;
  for (const std::string& text : warnings()) told += text.find("the search goes on alone") != std::string::npos;
  EXPECT_EQ(told, 1);
  EXPECT_THAT(warnings(), Contains(HasSubstr("no such key")));
}

TEST_F(WritingRoundsTest, a_provider_that_may_come_back_is_asked_once_more_a_round_later) {
  fake_->error = ChatError{.kind = ChatErrorKind::overloaded, .message = "try later"};
  int asked = 0;
  fake_->before_answering = [&] { ++asked; };
  options_.rounds = 5;
  const TuningResult result = run();
  ASSERT_TRUE(result.variant) << result.reason;
  EXPECT_EQ(result.variant->evidence.proposer, "search");
  EXPECT_EQ(asked, 2);
  EXPECT_THAT(warnings(), Contains(HasSubstr("the next round is the search's, then it is asked again")));
  EXPECT_THAT(warnings(), Contains(HasSubstr("try later; the search goes on alone")));
}

TEST_F(WritingRoundsTest, what_cannot_be_configured_leaves_the_search_alone_and_says_why) {
  delete fake_;
  options_.proposers = [](const ProposerChoice&, const proposer::model::GiveUp&) {
    Proposers none;
    none.alone_because = "no model is configured";
    return none;
  };
  options_.rounds = 3;
  ASSERT_TRUE(run().variant);
  EXPECT_THAT(warnings(), Contains(HasSubstr("no model is configured")));
}

TEST_F(WritingRoundsTest, answers_that_bring_nothing_do_not_end_a_run_that_has_rounds_left) {
  options_.rounds = 2;
  fake_->answers = {{}, {written(kFast)}};
  const TuningResult result = run();
  EXPECT_TRUE(result.variant) << result.reason;
  EXPECT_THAT(result.reason, HasSubstr("all 2 rounds"));
}

}  // namespace
}  // namespace kagent::loop
