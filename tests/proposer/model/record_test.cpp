// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/record.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proposer/model/budget.h"
#include "proposer/model/fake_model.h"
#include "proposer/model/model_test_parts.h"
#include "proposer/model/models.h"
#include "proposer/model/replay.h"
#include "util/files.h"

namespace kagent::proposer::model {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct RecordedRun {
  explicit RecordedRun(std::vector<ChatResult> results) : fake(std::make_shared<FakeModel>(std::move(results))) {}

  ChatResult ask(const std::string& role, const ChatRequest& request) {
    return RecordingModel(fake, log, role).complete(request, never);
  }
  std::shared_ptr<Replay> replay() {
    auto exchanges = read_exchanges(folder.path());
    EXPECT_TRUE(exchanges) << exchanges.error().message;
    return std::make_shared<Replay>(std::move(*exchanges));
  }

  util::TemporaryFolder folder;
  fs::path next = folder.path() / "round-1";
  std::shared_ptr<FakeModel> fake;
  std::shared_ptr<ExchangeLog> log = std::make_shared<ExchangeLog>([this] { return next; }, std::vector{test_key()});
};

ChatRequest full_request() {
  ChatRequest request = test_request("line one\nline two");
  request.answer_schema = "{}";
  request.max_output_tokens = 77;
  request.temperature = 0.25;
  request.seed = 9;
  return request;
}

TEST(Record, what_was_asked_and_answered_comes_back_whole) {
  ChatReply reply = answered("text \xF0\x9F\x9A\x80");
  reply.reasoning = "because";
  reply.finish = Finish::length;
  reply.model = "fake-1";
  reply.usage.cost = 0.125;
  reply.usage_estimated = true;
  RecordedRun run({reply});
  ASSERT_TRUE(run.ask("draft", full_request()));
  const auto exchange = read_exchange(run.next / "exchange-001.json");
  ASSERT_TRUE(exchange) << exchange.error().message;
  EXPECT_EQ(exchange->number, 1);
  EXPECT_EQ(exchange->role, "draft");
  EXPECT_EQ(exchange->asked, "fake");
  EXPECT_EQ(prompt_hash(exchange->request), prompt_hash(full_request()));
  EXPECT_EQ(exchange->request.temperature, 0.25);
  EXPECT_EQ(exchange->request.seed, 9);
  EXPECT_TRUE(exchange->request.messages[0].stable);
  ASSERT_TRUE(exchange->result);
  EXPECT_EQ(exchange->result->text, reply.text);
  EXPECT_EQ(exchange->result->reasoning, "because");
  EXPECT_EQ(exchange->result->finish, Finish::length);
  EXPECT_EQ(exchange->result->usage.input_tokens, 100);
  EXPECT_EQ(exchange->result->usage.cost, 0.125);
  EXPECT_TRUE(exchange->result->usage_estimated);
}

TEST(Record, errors_come_back_too) {
  ChatError error{ChatErrorKind::rate_limited, "slow down"};
  error.retry_after = std::chrono::seconds(5);
  error.http_status = 429;
  error.usage.input_tokens = 3;
  RecordedRun run({std::unexpected(error)});
  ASSERT_FALSE(run.ask("refine", test_request()));
  const auto exchange = read_exchange(run.next / "exchange-001.json");
  ASSERT_TRUE(exchange) << exchange.error().message;
  ASSERT_FALSE(exchange->result);
  EXPECT_EQ(exchange->result.error().kind, ChatErrorKind::rate_limited);
  EXPECT_EQ(exchange->result.error().message, "slow down");
  EXPECT_EQ(exchange->result.error().retry_after, std::chrono::seconds(5));
  EXPECT_EQ(exchange->result.error().http_status, 429);
  EXPECT_EQ(exchange->result.error().usage.input_tokens, 3);
}

TEST(Record, keys_and_broken_bytes_are_written_nowhere) {
  const std::string key = kTestKey;
  ChatReply reply = answered("your key " + key + " \xFF\xC3");
  reply.reasoning = key + key;
  RecordedRun run({reply});
  ASSERT_TRUE(run.ask("draft", test_request("my key is " + key + "\xE2\x82")));
  const auto text = util::read_file(run.next / "exchange-001.json");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, AllOf(Not(HasSubstr(key)), Not(HasSubstr("\xFF")), HasSubstr("[key removed]")));
  EXPECT_TRUE(read_exchange(run.next / "exchange-001.json"));
}

TEST(Record, a_run_is_replayed_over_its_folders_and_roles) {
  RecordedRun run({answered("one"), failed(ChatErrorKind::overloaded, "busy"), answered("three")});
  run.ask("draft", test_request("a"));
  run.next = run.folder.path() / "candidates" / "c0ffee";
  run.ask("refine", test_request("b"));
  run.next = run.folder.path() / "round-2";
  run.ask("draft", test_request("c"));
  auto replay = run.replay();
  auto budget = std::make_shared<Budget>(BudgetLimits{});
  ReplayModel draft(replay, budget, "draft"), refine(replay, budget, "refine");
  EXPECT_EQ(draft.complete(test_request("a"), never)->text, "one");
  const ChatResult busy = refine.complete(test_request("b"), never);
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().kind, ChatErrorKind::overloaded);
  EXPECT_EQ(draft.complete(test_request("c"), never)->text, "three");
  EXPECT_EQ(replay->left(), 0U);
  EXPECT_EQ(budget->used("draft").input_tokens, 200);
}

TEST(Record, another_prompt_than_recorded_is_an_error_that_says_where) {
  RecordedRun run({answered("one")});
  run.ask("draft", test_request("first\nsecond line\nthird"));
  auto replay = run.replay();
  const ChatResult result = replay->next("draft", test_request("first\nsecond wine\nthird"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ChatErrorKind::replay_mismatch);
  EXPECT_THAT(result.error().message, HasSubstr("message 2 (user), line 2: recorded 'second line', now 'second wine'"));
  EXPECT_TRUE(replay->next("draft", test_request("first\nsecond line\nthird")));
}

TEST(Record, order_alone_answers_other_prompts_but_not_other_roles) {
  RecordedRun run({answered("one")});
  run.ask("draft", test_request("took 5.1 us"));
  auto models = replay_models(run.folder.path(), ReplayCheck::order_alone);
  ASSERT_TRUE(models) << models.error().message;
  EXPECT_EQ(models->refine->complete(test_request("took 5.2 us"), never).error().kind, ChatErrorKind::replay_mismatch);
  EXPECT_EQ(models->draft->complete(test_request("took 5.2 us"), never)->text, "one");
}

TEST(Record, every_difference_of_prompts_is_named) {
  const ChatRequest base = test_request("x\ny");
  EXPECT_EQ(first_difference(base, base), "");
  EXPECT_THAT(first_difference(base, test_request("x\ny\nz")), HasSubstr("line 2"));
  EXPECT_THAT(first_difference(base, test_request("")), HasSubstr("line 1: recorded 'x', now ''"));
  ChatRequest longer = base;
  longer.messages.push_back({Author::assistant, "z", false});
  EXPECT_THAT(first_difference(base, longer), HasSubstr("2 messages were recorded, now there are 3"));
  ChatRequest other = base;
  other.messages[1].author = Author::assistant;
  EXPECT_THAT(first_difference(base, other), HasSubstr("message 2 was of user, now of assistant"));
  ChatRequest schema = base;
  schema.answer_schema = "{}";
  EXPECT_THAT(first_difference(base, schema), HasSubstr("schema"));
}

TEST(Record, another_role_and_an_exhausted_record_are_errors) {
  RecordedRun run({answered("one")});
  run.ask("draft", test_request());
  auto replay = run.replay();
  EXPECT_THAT(replay->next("refine", test_request()).error().message, HasSubstr("'draft', now 'refine'"));
  ASSERT_TRUE(replay->next("draft", test_request()));
  EXPECT_THAT(replay->next("draft", test_request()).error().message, HasSubstr("ends after 1"));
}

TEST(Record, records_of_two_runs_and_broken_ones_are_refused_with_their_name) {
  RecordedRun run({answered("one")});
  run.ask("draft", test_request());
  fs::create_directories(run.folder.path() / "other");
  fs::copy(run.next / "exchange-001.json", run.folder.path() / "other" / "exchange-001.json");
  EXPECT_THAT(read_exchanges(run.folder.path()).error().message, HasSubstr("exchange 1 twice"));
  for (const char* text : {"", "[]", "{}", R"({"format":2})", R"({"format":1,"number":"x"})",
                           R"({"format":1,"number":1,"request":{"messages":[{"author":"nobody"}]}})",
                           R"({"format":1,"number":1,"request":{"messages":[]}})",
                           R"({"format":1,"number":1,"request":{"messages":[]},"error":{"kind":"odd"}})"}) {
    ASSERT_TRUE(util::write_file_atomically(run.next / "exchange-001.json", text));
    const auto exchange = read_exchange(run.next / "exchange-001.json");
    ASSERT_FALSE(exchange) << text;
    EXPECT_THAT(exchange.error().message, HasSubstr("exchange-001.json"));
  }
}

TEST(Record, a_folder_without_records_is_an_error) {
  util::TemporaryFolder folder;
  EXPECT_THAT(read_exchanges(folder.path()).error().message, HasSubstr("no exchange-NNN.json"));
  EXPECT_FALSE(read_exchanges(folder.path() / "missing"));
}

TEST(Record, a_record_that_cannot_be_written_does_not_end_the_run_but_is_told) {
  RecordedRun run({answered("one")});
  ASSERT_TRUE(util::write_file_atomically(run.folder.path() / "file", ""));
  run.next = run.folder.path() / "file" / "below";
  EXPECT_TRUE(run.ask("draft", test_request()));
  EXPECT_THAT(run.log->trouble(), HasSubstr("exchange-001.json"));
}

}  // namespace
}  // namespace kagent::proposer::model
