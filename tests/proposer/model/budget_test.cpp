// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/budget.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proposer/model/fake_model.h"
#include "proposer/model/model_test_parts.h"

namespace kagent::proposer::model {
namespace {

using testing::HasSubstr;

const Prices kPrices{3, 0.3, 15, "USD"};

TEST(Budget, prices_are_per_million_tokens_and_cached_ones_are_cheaper) {
  Usage usage;
  usage.input_tokens = 1'000'000;
  usage.cached_tokens = 900'000;
  usage.output_tokens = 100'000;
  EXPECT_DOUBLE_EQ(kPrices.cost(usage), 0.3 + 0.27 + 1.5);
  EXPECT_EQ(Prices{}.cost(usage), 0);
}

TEST(Budget, each_role_is_booked_by_itself) {
  auto fake = std::make_shared<FakeModel>(std::vector<ChatResult>{answered("x", 1'000, 100)});
  auto budget = std::make_shared<Budget>(BudgetLimits{});
  BudgetedModel draft(fake, budget, "draft", {}, 4'096), refine(fake, budget, "refine", kPrices, 4'096);
  ASSERT_TRUE(draft.complete(test_request(), never));
  const ChatResult result = refine.complete(test_request(), never);
  ASSERT_TRUE(result);
  EXPECT_DOUBLE_EQ(result->usage.cost, 0.003 + 0.0015);
  EXPECT_EQ(budget->used("draft").cost, 0);
  EXPECT_DOUBLE_EQ(budget->used("refine").cost, 0.0045);
  EXPECT_EQ(budget->used().input_tokens, 2'000);
  EXPECT_EQ(budget->used("nobody").input_tokens, 0);
}

TEST(Budget, a_request_that_would_exceed_the_tokens_is_not_sent) {
  auto fake = std::make_shared<FakeModel>(std::vector<ChatResult>{answered("x", 9'000, 900)});
  auto budget = std::make_shared<Budget>(BudgetLimits{10'000, {}});
  BudgetedModel model(fake, budget, "draft", {}, 4'096);
  ASSERT_TRUE(model.complete(test_request(), never));
  EXPECT_FALSE(budget->exhausted());
  const ChatResult refused = model.complete(test_request(std::string(600, 'x')), never);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ChatErrorKind::budget);
  EXPECT_THAT(refused.error().message, HasSubstr("10000 tokens"));
  EXPECT_EQ(fake->asked.size(), 1U);
}

TEST(Budget, an_answer_may_be_as_long_as_the_budget_is_left) {
  auto fake = std::make_shared<FakeModel>(std::vector<ChatResult>{answered("x")});
  auto budget = std::make_shared<Budget>(BudgetLimits{2'000, {}});
  BudgetedModel model(fake, budget, "draft", {}, 4'096);
  ASSERT_TRUE(model.complete(test_request(), never));
  EXPECT_EQ(fake->asked[0].max_output_tokens, 2'000 - estimated_tokens(test_request()));
  auto plenty = std::make_shared<Budget>(BudgetLimits{1'000'000, {}});
  ASSERT_TRUE(BudgetedModel(fake, plenty, "draft", {}, 4'096).complete(test_request(), never));
  EXPECT_EQ(fake->asked[1].max_output_tokens, 4'096);
}

TEST(Budget, a_request_that_would_exceed_the_money_is_not_sent) {
  auto fake = std::make_shared<FakeModel>(std::vector<ChatResult>{answered("x", 1'000, 900)});
  auto budget = std::make_shared<Budget>(BudgetLimits{{}, 0.02});
  BudgetedModel model(fake, budget, "refine", kPrices, 100'000);
  ASSERT_TRUE(model.complete(test_request(), never));
  EXPECT_LE(fake->asked[0].max_output_tokens, 1'334);  // 0.02 / 15 millionths
  const ChatResult refused = model.complete(test_request(), never);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ChatErrorKind::budget);
  EXPECT_THAT(refused.error().message, HasSubstr("0.02 USD"));
}

TEST(Budget, failed_attempts_are_booked_and_reservations_given_back) {
  ChatError error{ChatErrorKind::network, "broke"};
  error.usage.input_tokens = 40;
  auto fake = std::make_shared<FakeModel>(std::vector<ChatResult>{std::unexpected(error), answered("x", 40, 1)});
  auto budget = std::make_shared<Budget>(BudgetLimits{1'000, {}});
  BudgetedModel model(fake, budget, "draft", {}, 4'096);
  ASSERT_FALSE(model.complete(test_request(), never));
  EXPECT_EQ(budget->used().input_tokens, 40);
  EXPECT_TRUE(model.complete(test_request(), never));
}

TEST(Budget, what_an_earlier_run_used_counts) {
  Budget budget({1'000, {}});
  Usage before;
  before.input_tokens = 900;
  before.output_tokens = 100;
  budget.add("draft", before);
  std::string why;
  EXPECT_TRUE(budget.exhausted(&why));
  EXPECT_EQ(why, "1000 of 1000 tokens are used");
  EXPECT_FALSE(budget.reserve(1, 1'000, {}));
}

TEST(Budget, requests_under_way_are_counted_at_their_most) {
  Budget budget({10'000, {}});
  ASSERT_EQ(budget.reserve(1'000, 8'000, {}), 8'000);
  EXPECT_FALSE(budget.reserve(900, 8'000, {}));
  budget.settle("draft", 1'000, 8'000, {}, {});
  EXPECT_TRUE(budget.reserve(900, 8'000, {}));
}

}  // namespace
}  // namespace kagent::proposer::model
