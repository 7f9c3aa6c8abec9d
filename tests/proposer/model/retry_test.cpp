// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/retry.h"

#include <chrono>
#include <memory>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proposer/model/fake_model.h"
#include "proposer/model/model_test_parts.h"

namespace kagent::proposer::model {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Retried {
  explicit Retried(std::vector<ChatResult> results, ExchangeLimits limits = {})
      : fake(std::make_shared<FakeModel>(std::move(results))),
        pause(std::make_shared<FakePause>()),
        model(fake, limits, pause, 1) {}
  ChatResult ask(const GiveUp& give_up = never) { return model.complete(test_request(), give_up); }

  std::shared_ptr<FakeModel> fake;
  std::shared_ptr<FakePause> pause;
  RetryingModel model;
};

TEST(Retry, failures_that_pass_are_tried_again_after_growing_waits) {
  Retried setup({failed(ChatErrorKind::overloaded), failed(ChatErrorKind::network), failed(ChatErrorKind::timed_out),
                 failed(ChatErrorKind::malformed), answered("x")});
  const ChatResult result = setup.ask();
  ASSERT_TRUE(result);
  ASSERT_EQ(setup.pause->waits.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_GE(setup.pause->waits[i], 500ms * (1 << i));
    EXPECT_LE(setup.pause->waits[i], 1'000ms * (1 << i));
  }
}

TEST(Retry, failures_that_stay_are_told_at_once) {
  for (const auto kind : {ChatErrorKind::unauthorized, ChatErrorKind::bad_request, ChatErrorKind::context_overflow,
                          ChatErrorKind::tls, ChatErrorKind::too_large, ChatErrorKind::refused, ChatErrorKind::budget,
                          ChatErrorKind::command_failed, ChatErrorKind::replay_mismatch, ChatErrorKind::cancelled}) {
    Retried setup({failed(kind), answered("x")});
    EXPECT_EQ(setup.ask().error().kind, kind);
    EXPECT_EQ(setup.fake->asked.size(), 1U);
    EXPECT_THAT(setup.pause->waits, IsEmpty());
  }
}

TEST(Retry, it_ends_after_the_configured_attempts) {
  ExchangeLimits limits;
  limits.attempts = 3;
  Retried setup({failed(ChatErrorKind::overloaded)}, limits);
  const ChatResult result = setup.ask();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ChatErrorKind::overloaded);
  EXPECT_THAT(result.error().message, HasSubstr("the last of 3 attempts"));
  EXPECT_EQ(setup.fake->asked.size(), 3U);
}

TEST(Retry, a_wait_that_the_provider_asks_for_is_kept) {
  ChatError error{ChatErrorKind::rate_limited, "slow down"};
  error.retry_after = 37s;
  Retried setup({std::unexpected(error), answered("x")});
  ASSERT_TRUE(setup.ask());
  EXPECT_THAT(setup.pause->waits, ElementsAre(37'000ms));
}

TEST(Retry, a_wait_beyond_the_limit_ends_it_and_says_so) {
  ChatError error{ChatErrorKind::rate_limited, "come back tomorrow"};
  error.retry_after = 24h;
  Retried setup({std::unexpected(error), answered("x")});
  const ChatResult result = setup.ask();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("86400 s, longer than 120 s"));
  EXPECT_THAT(setup.pause->waits, IsEmpty());
}

TEST(Retry, giving_up_while_waiting_ends_it) {
  Retried setup({failed(ChatErrorKind::overloaded, "busy")});
  const ChatResult result = setup.ask([] { return true; });
  EXPECT_EQ(result.error().kind, ChatErrorKind::cancelled);
  EXPECT_EQ(setup.fake->asked.size(), 1U);
}

TEST(Retry, usage_is_that_of_all_attempts) {
  ChatError half{ChatErrorKind::network, "broke"};
  half.usage.input_tokens = 100;
  half.usage.output_tokens = 4;
  Retried setup({std::unexpected(half), answered("x", 100, 10)});
  const ChatResult result = setup.ask();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->usage.input_tokens, 200);
  EXPECT_EQ(result->usage.output_tokens, 14);
}

TEST(Retry, no_more_requests_a_minute_than_configured_are_sent) {
  ExchangeLimits limits;
  limits.requests_per_minute = 2;
  Retried setup({answered("x")}, limits);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(setup.ask());
  EXPECT_EQ(std::accumulate(setup.pause->waits.begin(), setup.pause->waits.end(), 0ms), 2min);
}

TEST(Retry, a_provider_that_has_nothing_left_is_given_its_time) {
  ChatReply last = answered("x");
  last.rate_limits.requests_left = 0;
  last.rate_limits.requests_reset = 9s;
  Retried setup({last, answered("y")});
  ASSERT_TRUE(setup.ask());
  EXPECT_THAT(setup.pause->waits, IsEmpty());
  ASSERT_TRUE(setup.ask());
  EXPECT_THAT(setup.pause->waits, ElementsAre(9'000ms));
}

TEST(Retry, a_provider_that_claims_a_far_reset_is_not_waited_for_longer_than_the_limit) {
  ChatReply last = answered("x");
  last.rate_limits.tokens_left = 0;
  last.rate_limits.tokens_reset = 240h;
  Retried setup({last, answered("y")});
  ASSERT_TRUE(setup.ask());
  ASSERT_TRUE(setup.ask());
  EXPECT_THAT(setup.pause->waits, ElementsAre(120'000ms));
}

TEST(Retry, the_real_pause_ends_when_given_up) {
  int asked = 0;
  EXPECT_FALSE(real_pause()->wait(1h, [&] { return ++asked == 2; }));
  EXPECT_TRUE(real_pause()->wait(0ms, never));
}

}  // namespace
}  // namespace kagent::proposer::model
