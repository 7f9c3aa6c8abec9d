// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/anthropic.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proposer/model/fake_server.h"
#include "proposer/model/model_test_parts.h"

namespace kagent::proposer::model {
namespace {

using nlohmann::json;
using test::FakeServer;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string event(const std::string& type, const std::string& rest) {
  return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + rest + "}\n\n";
}
const std::string kStart =
    event("message_start", R"(,"message":{"model":"fake-2","usage":{"input_tokens":10,"cache_read_input_tokens":80,)"
                           R"("cache_creation_input_tokens":5,"output_tokens":1}})");
const std::string kEnd = event("message_delta", R"(,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":42})") +
                         event("message_stop", "");
std::string delta(const std::string& part) {
  return event("content_block_delta", ",\"index\":0,\"delta\":{" + part + "}");
}

ChatResult ask(const FakeServer& server, const ChatRequest& request = test_request()) {
  return AnthropicModel(test_config(server.url(), Api::anthropic), test_key()).complete(request, never);
}

TEST(Anthropic, a_streamed_answer_is_put_together) {
  FakeServer server({test::stream(
      {kStart, event("ping", ""), event("content_block_start", R"(,"content_block":{"type":"thinking","thinking":""})"),
       delta(R"("type":"thinking_delta","thinking":"hm")"), event("content_block_stop", ""),
       event("content_block_start", R"(,"content_block":{"type":"text","text":""})"),
       delta(R"("type":"text_delta","text":"Use ")"), delta(R"("type":"text_delta","text":"tiles")"),
       event("something_new", ""), kEnd})});
  const ChatResult result = ask(server);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "Use tiles");
  EXPECT_EQ(result->reasoning, "hm");
  EXPECT_EQ(result->model, "fake-2");
  EXPECT_EQ(result->usage.input_tokens, 95);
  EXPECT_EQ(result->usage.cached_tokens, 80);
  EXPECT_EQ(result->usage.output_tokens, 42);
}

TEST(Anthropic, an_answer_by_schema_comes_through_a_tool) {
  FakeServer server({test::stream(
      {kStart,
       event("content_block_start", R"(,"content_block":{"type":"tool_use","id":"t","name":"answer","input":{}})"),
       delta(R"("type":"input_json_delta","partial_json":"{\"a\"")"),
       delta(R"("type":"input_json_delta","partial_json":": 1}")"), kEnd})});
  ChatRequest request = test_request();
  request.answer_schema = R"({"type":"object"})";
  const ChatResult result = ask(server, request);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "{\"a\": 1}");
  const json body = json::parse(server.seen().at(0).body);
  EXPECT_EQ(body["tools"][0]["input_schema"], json::parse(R"({"type":"object"})"));
  EXPECT_EQ(body["tool_choice"], json::parse(R"({"type":"tool","name":"answer"})"));
}

TEST(Anthropic, a_server_that_takes_no_tools_is_asked_without_and_remembered) {
  FakeServer server({test::reply("400 Bad Request", "",
                                 R"({"type":"error","error":{"type":"invalid_request_error",)"
                                 R"("message":"tool_choice: forced tool use is not supported"}})"),
                     test::stream({kStart, delta(R"("text":"x")"), kEnd})});
  AnthropicModel model(test_config(server.url(), Api::anthropic), test_key());
  ChatRequest request = test_request();
  request.answer_schema = R"({"type":"object"})";
  ASSERT_TRUE(model.complete(request, never));
  ASSERT_TRUE(model.complete(request, never));
  ASSERT_EQ(server.seen().size(), 3U);
  EXPECT_FALSE(json::parse(server.seen()[2].body).contains("tools"));
}

TEST(Anthropic, the_request_has_system_apart_key_version_and_cache_marks) {
  FakeServer server({test::stream({kStart, delta(R"("text":"x")"), kEnd})});
  ASSERT_TRUE(ask(server));
  const test::SeenRequest seen = server.seen().at(0);
  EXPECT_EQ(seen.line, "POST /v1/messages HTTP/1.1");
  EXPECT_THAT(seen.headers, AllOf(HasSubstr(std::string("x-api-key: ") + kTestKey + "\r\n"),
                                  HasSubstr("anthropic-version: 2023-06-01\r\n")));
  const json body = json::parse(seen.body);
  EXPECT_EQ(body["system"], json::parse(R"([{"type":"text","text":"You improve kernels.",
                                             "cache_control":{"type":"ephemeral"}}])"));
  EXPECT_EQ(body["messages"], json::parse(R"([{"role":"user","content":[{"type":"text","text":"Make it faster."}]}])"));
  EXPECT_EQ(body["max_tokens"], 8'192);
}

TEST(Anthropic, no_more_than_four_parts_are_marked_for_the_cache) {
  ChatRequest request;
  for (int i = 0; i < 7; ++i) request.messages.push_back({Author::user, "part " + std::to_string(i), true});
  const AnthropicModel model(test_config("http://127.0.0.1:1", Api::anthropic), test_key());
  const std::string preview = model.preview(request);
  const json body = json::parse(preview.substr(preview.find("\n\n")));
  int marks = 0;
  for (const json& message : body["messages"]) marks += message["content"][0].contains("cache_control") ? 1 : 0;
  EXPECT_EQ(marks, 4);
  EXPECT_TRUE(body["messages"][6]["content"][0].contains("cache_control"));
}

TEST(Anthropic, errors_of_status_and_of_stream_are_told_apart_by_kind) {
  FakeServer overloaded(
      {test::reply("529 Overloaded", "retry-after: 3\r\n",
                   R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})")});
  const ChatResult busy = ask(overloaded);
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().kind, ChatErrorKind::overloaded);
  EXPECT_EQ(busy.error().retry_after, std::chrono::seconds(3));
  FakeServer in_stream(
      {test::stream({kStart, event("error", R"(,"error":{"type":"rate_limit_error","message":"too many"})")})});
  const ChatResult limited = ask(in_stream);
  ASSERT_FALSE(limited);
  EXPECT_EQ(limited.error().kind, ChatErrorKind::rate_limited);
  EXPECT_EQ(limited.error().usage.input_tokens, 95);
  FakeServer too_long({test::reply("400 Bad Request", "",
                                   R"({"type":"error","error":{"type":"invalid_request_error",)"
                                   R"("message":"prompt is too long: 210000 tokens > 200000 maximum"}})")});
  EXPECT_EQ(ask(too_long).error().kind, ChatErrorKind::context_overflow);
}

TEST(Anthropic, a_stream_that_breaks_off_is_no_answer) {
  FakeServer server({test::stream({kStart, delta(R"("text":"half")")})});
  const ChatResult result = ask(server);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ChatErrorKind::network);
}

TEST(Anthropic, a_refusal_and_a_cut_answer_are_told_as_such) {
  FakeServer refusal({test::stream(
      {kStart, event("message_delta", R"(,"delta":{"stop_reason":"refusal"})"), event("message_stop", "")})});
  EXPECT_EQ(ask(refusal).error().kind, ChatErrorKind::refused);
  FakeServer cut(
      {test::stream({kStart, delta(R"("text":"long")"),
                     event("message_delta", R"(,"delta":{"stop_reason":"max_tokens"})"), event("message_stop", "")})});
  const ChatResult result = ask(cut);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->finish, Finish::length);
}

TEST(Anthropic, an_answer_in_one_piece_is_read_too) {
  FakeServer server(
      {test::json_reply(R"({"model":"fake-2","content":[{"type":"text","text":"whole"}],"stop_reason":"end_turn",)"
                        R"("usage":{"input_tokens":3,"output_tokens":4}})")});
  const ChatResult result = ask(server);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "whole");
  EXPECT_EQ(result->usage.output_tokens, 4);
}

TEST(Anthropic, what_is_not_the_protocol_is_malformed) {
  for (const std::string body : {"<html></html>", "", "{}", R"({"content":"x"})", "[1]"}) {
    FakeServer server({test::json_reply(body)});
    const ChatResult result = ask(server);
    ASSERT_FALSE(result) << body;
    EXPECT_EQ(name(result.error().kind), "malformed") << body;
  }
}

}  // namespace
}  // namespace kagent::proposer::model
