// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/endpoint.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proposer/model/fake_server.h"
#include "proposer/model/model_test_parts.h"

namespace kagent::proposer::model {
namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;
using testing::HasSubstr;

// Thu, 01 Jan 2026 00:00:00 GMT
const system_clock::time_point kNow = system_clock::from_time_t(1'767'225'600);

TEST(Endpoint, retry_after_is_seconds_or_a_date) {
  EXPECT_EQ(parse_retry_after("120", kNow), 120s);
  EXPECT_EQ(parse_retry_after("0.5", kNow), 500ms);
  EXPECT_EQ(parse_retry_after("Thu, 01 Jan 2026 00:00:30 GMT", kNow), 30s);
  EXPECT_EQ(parse_retry_after("Wed, 31 Dec 2025 23:59:00 GMT", kNow), 0s);
}

TEST(Endpoint, a_retry_after_that_is_neither_counts_as_none) {
  for (const char* text : {"", "soon", "-5", "1e99", "nan", "12 s", "\xFF"})
    EXPECT_EQ(parse_retry_after(text, kNow), std::nullopt) << text;
}

TEST(Endpoint, rate_limits_are_read_in_the_notations_of_the_providers) {
  const RateLimits openai = parse_rate_limits({{"x-ratelimit-remaining-requests", "3"},
                                               {"x-ratelimit-remaining-tokens", "1500"},
                                               {"x-ratelimit-reset-requests", "20ms"},
                                               {"x-ratelimit-reset-tokens", "1h2m3s"}},
                                              kNow);
  EXPECT_EQ(openai.requests_left, 3);
  EXPECT_EQ(openai.tokens_left, 1'500);
  EXPECT_EQ(openai.requests_reset, 20ms);
  EXPECT_EQ(openai.tokens_reset, 3'723s);
  const RateLimits anthropic = parse_rate_limits(
      {{"anthropic-ratelimit-requests-remaining", "0"}, {"anthropic-ratelimit-requests-reset", "2026-01-01T00:00:07Z"}},
      kNow);
  EXPECT_EQ(anthropic.requests_left, 0);
  EXPECT_EQ(anthropic.requests_reset, 7s);
  const RateLimits odd = parse_rate_limits({{"x-ratelimit-remaining-requests", "many"},
                                            {"x-ratelimit-reset-requests", "3 fortnights"},
                                            {"x-ratelimit-reset-tokens", "9999-99-99T99:99:99"}},
                                           kNow);
  EXPECT_EQ(odd.requests_left, std::nullopt);
  EXPECT_EQ(odd.requests_reset, std::nullopt);
  EXPECT_EQ(odd.tokens_reset, std::nullopt);
}

TEST(Endpoint, a_failure_is_told_in_one_short_line_whatever_it_is) {
  EXPECT_EQ(failure_text(R"([{"error":{"message":"in a list","type":"t"}}])"), "in a list (type t)");
  EXPECT_EQ(failure_text("plain\nwords"), "plain words");
  EXPECT_EQ(failure_text("<HTML>no title"), "an HTML page");
  EXPECT_LE(failure_text(std::string(10'000'000, 'x')).size(), 400U);
  EXPECT_EQ(failure_text(""), "nothing more was said");
}

TEST(Endpoint, a_redirect_is_told_with_its_target) {
  test::FakeServer server({test::reply("301 Moved", "Location: https://elsewhere.example/v2\r\n", "")});
  const Endpoint endpoint{test_config(server.url()), test_key(), "/x", "x-api-key: ", {}};
  const auto reply = endpoint.post("{}", {}, never);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ChatErrorKind::bad_request);
  EXPECT_THAT(reply.error().message, HasSubstr("https://elsewhere.example/v2"));
}

}  // namespace
}  // namespace kagent::proposer::model
