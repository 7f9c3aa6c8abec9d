// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/models.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proposer/model/fake_server.h"
#include "proposer/model/model_test_parts.h"
#include "util/files.h"

namespace kagent::proposer::model {
namespace {

using test::FakeServer;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kAnswer = R"({"choices":[{"message":{"content":"tiles"},"finish_reason":"stop"}],)"
                            R"("usage":{"prompt_tokens":1000,"completion_tokens":100}})";

std::optional<std::string> variables(const std::string& name) {
  return name == "FAKE_KEY" ? std::optional<std::string>(kTestKey) : std::nullopt;
}

ModelsConfig config_of(const FakeServer& server) {
  ModelsConfig config;
  config.draft = config.refine = test_config(server.url());
  config.draft.key = config.refine.key = "env:FAKE_KEY";
  config.refine.prices = {10, 10, 20, "USD"};
  config.budget.tokens = 100'000;
  return config;
}

TEST(Models, a_run_is_retried_priced_booked_recorded_and_replayed_without_the_server) {
  util::TemporaryFolder folder;
  {
    // A server that asks to come back at once.
    FakeServer server({test::reply("429 Too Many Requests", "Retry-After: 0\r\n", std::string("bad key ") + kTestKey),
                       test::json_reply(kAnswer)});
    auto models = make_models(
        config_of(server), [&] { return folder.path(); }, variables);
    ASSERT_TRUE(models) << models.error().message;
    ASSERT_TRUE(models->draft->complete(test_request("a"), never));
    const ChatResult refined = models->refine->complete(test_request("b"), never);
    ASSERT_TRUE(refined);
    EXPECT_DOUBLE_EQ(refined->usage.cost, 0.012);
    EXPECT_EQ(models->budget->used("draft").cost, 0);
    EXPECT_DOUBLE_EQ(models->budget->used("refine").cost, 0.012);
    EXPECT_EQ(models->log->trouble(), "");
  }
  auto again = replay_models(folder.path());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->draft->complete(test_request("a"), never)->text, "tiles");
  EXPECT_EQ(again->refine->complete(test_request("b"), never)->text, "tiles");
  EXPECT_DOUBLE_EQ(again->budget->used("refine").cost, 0.012);
  for (const char* file : {"exchange-001.json", "exchange-002.json"})
    EXPECT_THAT(*util::read_file(folder.path() / file), Not(HasSubstr(kTestKey)));
}

TEST(Models, a_key_that_is_missing_is_told_before_anything_is_asked) {
  FakeServer server({test::json_reply(kAnswer)});
  ModelsConfig config = config_of(server);
  config.refine.key = "env:NOT_SET";
  const auto models = make_models(config, {}, variables);
  ASSERT_FALSE(models);
  EXPECT_THAT(models.error().message, AllOf(HasSubstr("'fake'"), HasSubstr("NOT_SET is not set")));
}

TEST(Models, a_preview_needs_no_key_and_no_server) {
  ModelsConfig config;
  config.draft = config.refine = test_config("https://models.example/v1");
  config.draft.key = "env:NOT_SET";
  const std::string preview = preview_models(config).draft->preview(test_request());
  EXPECT_THAT(preview, AllOf(HasSubstr("POST https://models.example/v1/chat/completions"),
                             HasSubstr("Authorization: Bearer [key from env:NOT_SET]"), HasSubstr("Make it faster.")));
}

}  // namespace
}  // namespace kagent::proposer::model
