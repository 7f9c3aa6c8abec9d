// SPDX-License-Identifier: Apache-2.0
// Each reason to stop, at the end of a whole run.
#include <gmock/gmock.h>

#include "loop/writing_rounds_fixture.h"

namespace kagent::loop {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr int kEnough = 50;  // rounds that no run of these uses

class StoppingRun : public WritingRoundsTest {
 protected:
  StoppingRun() {
    options_.rounds = kEnough;
    fake_->before_answering = [this] { ++asked_; };
  }
  void with_budget(const proposer::model::BudgetLimits& limits, const Usage& of_an_answer) {
    budget_ = std::make_shared<proposer::model::Budget>(limits);
    fake_->before_answering = [this, of_an_answer] {
      ++asked_;
      budget_->add("draft", of_an_answer);
    };
  }
  // Refused before anything is compiled.
  static std::vector<Candidate> refused(int count) {
    std::vector<Candidate> candidates;
    for (int i = 0; i < count; ++i)
      candidates.push_back(written(std::string(kHead) +
                                   "#include <cstdlib>\nvoid scale(const float* x, float* y, int n) { std::system(\"" +
                                   std::to_string(i) + "\"); }\n"));
    return candidates;
  }

  int asked_ = 0;
};

TEST_F(StoppingRun, ends_when_the_time_is_used) {
  options_.time_budget = std::chrono::seconds(4);
  fake_->before_answering = [this] {
    ++asked_;
    while (!give_up_()) std::this_thread::yield();
  };
  EXPECT_THAT(run().reason, HasSubstr("the time budget of 4 s is used"));
  EXPECT_LE(asked_, 1);
}

TEST_F(StoppingRun, ends_when_the_tokens_are_used) {
  without_tunables();
  with_budget({.tokens = 1000, .money = std::nullopt}, {.input_tokens = 400, .output_tokens = 100});
  EXPECT_THAT(run().reason, HasSubstr("1000 tokens"));
  EXPECT_EQ(asked_, 2);
}

TEST_F(StoppingRun, ends_when_the_money_is_used) {
  without_tunables();
  with_budget({.tokens = std::nullopt, .money = 2.5}, {.cost = 1.25});
  EXPECT_THAT(run().reason, HasSubstr("the budget of 2.5"));
  EXPECT_EQ(asked_, 2);
}

TEST_F(StoppingRun, ends_when_the_next_question_does_not_fit_what_is_left) {
  fake_->error = proposer::model::ChatError{.kind = proposer::model::ChatErrorKind::budget,
                                            .message = "the budget of 1000 tokens is used up: 3 are left"};
  EXPECT_THAT(run().reason, HasSubstr("1000 tokens is used up: 3 are left"));
  EXPECT_EQ(asked_, 1);
}

TEST_F(StoppingRun, ends_when_enough_of_the_roofline_is_reached) {
  without_tunables();
  fake_->answers = {{}, {written(kFast)}};
  const TuningResult result = run();
  EXPECT_THAT(result.reason, HasSubstr("of the roofline"));
  EXPECT_THAT(result.reason, HasSubstr("the goal is reached"));
  EXPECT_TRUE(result.variant);
  EXPECT_EQ(asked_, 2);
}

TEST_F(StoppingRun, ends_when_the_baseline_turns_out_to_be_near_enough_to_the_roofline) {
  without_tunables();
  fake_->answers = {{written(R"(#include "scale.h"
void scale(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) {
    volatile float kept = x[i];
    for (int k = 0; k < 100; ++k) kept = kept;
    y[i] = 2 * kept;
  }
}
)")}};
  const TuningResult result = run();
  EXPECT_THAT(result.reason, HasSubstr("the goal is reached"));
  EXPECT_THAT(result.reason, HasSubstr("of the roofline"));
  EXPECT_FALSE(result.variant);
  EXPECT_EQ(asked_, 1);
}

TEST_F(StoppingRun, does_not_begin_where_the_incumbent_is_near_enough_to_the_roofline) {
  without_tunables();
  fake_->answers = {{written(kFast)}};
  ASSERT_TRUE(run().variant);
  options_.again = true;
  options_.proposers = [](const ProposerChoice&, const proposer::model::GiveUp&) { return Proposers(); };
  const TuningResult result = run();
  EXPECT_THAT(result.reason, HasSubstr("the goal is reached"));
  EXPECT_EQ(result.trials, 0);
}

TEST_F(StoppingRun, ends_when_it_is_as_much_faster_as_was_wanted) {
  options_.goal_speedup = 1.5;
  fake_->answers = {{written(kFast)}};
  const TuningResult result = run();
  EXPECT_THAT(result.reason, HasSubstr("x over the baseline"));
  EXPECT_THAT(result.reason, HasSubstr("the goal is reached"));
  EXPECT_EQ(asked_, 1);
}

TEST_F(StoppingRun, ends_after_three_rounds_without_a_gain) {
  without_tunables();
  const TuningResult result = run();
  EXPECT_THAT(result.reason, HasSubstr("3 rounds without a gain of 0.5 %: a person should look"));
  EXPECT_FALSE(result.variant);
  EXPECT_EQ(asked_, 3);
}

TEST_F(StoppingRun, ends_when_nearly_all_candidates_fail) {
  without_tunables();
  fake_->answers = {refused(24)};
  EXPECT_THAT(run().reason, HasSubstr("nearly all of the last 24 candidates failed"));
  EXPECT_EQ(asked_, 1);
}

TEST_F(StoppingRun, leaves_the_search_alone_when_too_much_of_what_is_written_fails) {
  fake_->answers = {refused(20), {written(kFast)}};
  options_.rounds = 3;
  const TuningResult result = run();
  EXPECT_EQ(asked_, 1);
  EXPECT_THAT(warnings(), Contains(HasSubstr("20 of its last 20 candidates failed; the search goes on alone")));
  ASSERT_TRUE(result.variant) << result.reason;
  EXPECT_EQ(result.variant->evidence.proposer, "search");
}

TEST_F(StoppingRun, ends_when_nothing_is_left_to_try) {
  without_tunables();
  fake_->error = proposer::model::ChatError{.kind = proposer::model::ChatErrorKind::unauthorized, .message = "no"};
  EXPECT_THAT(run().reason, HasSubstr("the spec has no tunables to search, and nobody else proposes anything"));
  EXPECT_EQ(asked_, 1);
}

}  // namespace
}  // namespace kagent::loop
