// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/openai.h"

#include <string>
#include <vector>

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

std::string chunk(const std::string& content) {
  return "data: " + json{{"model", "fake-1b"}, {"choices", {{{"delta", {{"content", content}}}}}}}.dump() + "\n\n";
}
const std::string kStop = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const std::string kDone = "data: [DONE]\n\n";
const std::string kWhole =
    R"({"model":"fake-1b","choices":[{"message":{"content":"whole"},"finish_reason":"stop"}],)"
    R"("usage":{"prompt_tokens":11,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":5}}})";

ChatResult ask(const FakeServer& server, const ChatRequest& request = test_request()) {
  return OpenAiModel(test_config(server.url() + "/v1"), test_key()).complete(request, never);
}

ChatErrorKind kind_of(const ChatResult& result) {
  if (!result) return result.error().kind;
  ADD_FAILURE() << "answered: " << result->text;
  return ChatErrorKind::cancelled;
}

TEST(OpenAi, a_streamed_answer_is_put_together) {
  FakeServer server({test::stream(
      {": waiting\n\n", "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n",
       "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm, \"}}]}\n\n",
       "data: {\"choices\":[{\"delta\":{\"reasoning\":\"so\"}}]}\n\n", chunk("Use "), chunk("tiles: \xC3\xA4."), kStop,
       "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":7,\"prompt_tokens_details\":"
       "{\"cached_tokens\":60}}}\n\n",
       kDone})});
  const ChatResult result = ask(server);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "Use tiles: \xC3\xA4.");
  EXPECT_EQ(result->reasoning, "hm, so");
  EXPECT_EQ(result->model, "fake-1b");
  EXPECT_EQ(result->finish, Finish::stop);
  EXPECT_EQ(result->usage.input_tokens, 100);
  EXPECT_EQ(result->usage.cached_tokens, 60);
  EXPECT_EQ(result->usage.output_tokens, 7);
  EXPECT_FALSE(result->usage_estimated);
}

TEST(OpenAi, the_request_holds_prompt_model_limit_and_key) {
  FakeServer server({test::json_reply(kWhole)});
  ModelConfig config = test_config(server.url() + "/v1");
  config.temperature = 0.5;
  config.extra = R"({"reasoning_effort":"low"})";
  ChatRequest request = test_request();
  request.max_output_tokens = 321;
  request.seed = 7;
  request.answer_schema = R"({"type":"object"})";
  ASSERT_TRUE(OpenAiModel(config, test_key()).complete(request, never));
  const test::SeenRequest seen = server.seen().at(0);
  EXPECT_EQ(seen.line, "POST /v1/chat/completions HTTP/1.1");
  EXPECT_THAT(seen.headers, AllOf(HasSubstr(std::string("Authorization: Bearer ") + kTestKey + "\r\n"),
                                  HasSubstr("Content-Type: application/json\r\n"), HasSubstr("User-Agent: kagent/")));
  const json body = json::parse(seen.body);
  EXPECT_EQ(body["model"], "fake-1");
  EXPECT_EQ(body["messages"], json::parse(R"([{"role":"system","content":"You improve kernels."},
                                              {"role":"user","content":"Make it faster."}])"));
  EXPECT_EQ(body["max_tokens"], 321);
  EXPECT_EQ(body["seed"], 7);
  EXPECT_EQ(body["temperature"], 0.5);
  EXPECT_EQ(body["reasoning_effort"], "low");
  EXPECT_EQ(body["response_format"]["json_schema"]["schema"], json::parse(R"({"type":"object"})"));
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
}

TEST(OpenAi, an_answer_in_one_piece_is_read_though_a_stream_was_asked_for) {
  FakeServer server({test::json_reply(kWhole)});
  const ChatResult result = ask(server);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "whole");
  EXPECT_EQ(result->usage.cached_tokens, 5);
}

TEST(OpenAi, a_stream_under_a_wrong_content_type_is_read_all_the_same) {
  FakeServer server({test::reply("200 OK", "Content-Type: text/plain\r\n", "\n" + chunk("fine") + kStop + kDone)});
  const ChatResult result = ask(server);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "fine");
}

TEST(OpenAi, a_server_without_answers_by_schema_is_asked_without_and_remembered) {
  FakeServer server({test::reply("400 Bad Request", "", R"({"error":{"message":"response_format is not supported"}})"),
                     test::json_reply(kWhole)});
  OpenAiModel model(test_config(server.url()), test_key());
  ChatRequest request = test_request();
  request.answer_schema = R"({"type":"object"})";
  ASSERT_TRUE(model.complete(request, never));
  ASSERT_TRUE(model.complete(request, never));
  const auto seen = server.seen();
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_TRUE(json::parse(seen[0].body).contains("response_format"));
  EXPECT_FALSE(json::parse(seen[1].body).contains("response_format"));
  EXPECT_FALSE(json::parse(seen[2].body).contains("response_format"));
}

TEST(OpenAi, every_parameter_that_a_server_names_in_its_refusal_is_given_up_once) {
  const auto refuse = [](const std::string& words) {
    return test::reply("422 Unprocessable Entity", "", json{{"error", {{"message", words}}}}.dump());
  };
  FakeServer server({refuse("unknown field stream_options"),
                     refuse("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
                     refuse("temperature: only 1 is supported"), refuse("seed: extra inputs are not permitted"),
                     refuse("stream is not supported"), test::json_reply(kWhole)});
  ModelConfig config = test_config(server.url());
  config.temperature = 0.7;
  ChatRequest request = test_request();
  request.seed = 1;
  const ChatResult result = OpenAiModel(config, test_key()).complete(request, never);
  ASSERT_TRUE(result) << result.error().message;
  const json last = json::parse(server.seen().back().body);
  EXPECT_EQ(last["stream"], false);
  EXPECT_TRUE(last.contains("max_completion_tokens"));
  for (const char* gone : {"stream_options", "max_tokens", "temperature", "seed"}) EXPECT_FALSE(last.contains(gone));
}

TEST(OpenAi, a_server_that_refuses_whatever_is_left_out_is_not_asked_for_ever) {
  FakeServer server({test::reply("400 Bad Request", "", "max_tokens stream stream_options response_format seed")});
  const ChatResult result = ask(server);
  EXPECT_EQ(kind_of(result), ChatErrorKind::bad_request);
  EXPECT_LE(server.seen().size(), 5U);
}

TEST(OpenAi, statuses_become_kinds_of_errors_with_what_the_server_said) {
  const struct {
    std::string status, body;
    ChatErrorKind kind;
    std::string words;
  } cases[] = {
      {"429 Too Many Requests", R"({"error":{"message":"slow down"}})", ChatErrorKind::rate_limited, "slow down"},
      {"429 Too Many Requests", R"({"error":{"message":"no money","code":"insufficient_quota"}})",
       ChatErrorKind::unauthorized, "no money"},
      {"500 Internal Server Error", "", ChatErrorKind::overloaded, "nothing more was said"},
      {"502 Bad Gateway", "<!DOCTYPE html><html><head><title>502 Bad\nGateway</title>", ChatErrorKind::overloaded,
       "an HTML page: 502 Bad Gateway"},
      {"401 Unauthorized", R"({"error":"who are you"})", ChatErrorKind::unauthorized, "who are you"},
      {"404 Not Found", R"({"detail":"no such model"})", ChatErrorKind::bad_request, "no such model"},
      {"413 Payload Too Large", "", ChatErrorKind::context_overflow, "413"},
      {"400 Bad Request", R"({"error":{"message":"too long","code":"context_length_exceeded"}})",
       ChatErrorKind::context_overflow, "too long"},
      {"400 Bad Request",
       R"({"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}})",
       ChatErrorKind::context_overflow, "exceeds"},
      {"400 Bad Request", R"({"object":"error","message":"This model's maximum context length is 4096 tokens."})",
       ChatErrorKind::context_overflow, "4096"},
      {"418 \xFF\xFE", "\xFF\xFE\x1B[31mteapot", ChatErrorKind::bad_request, "teapot"},
  };
  for (const auto& at : cases) {
    FakeServer server({test::reply(at.status, "", at.body)});
    const ChatResult result = ask(server);
    EXPECT_EQ(name(kind_of(result)), name(at.kind)) << at.status << at.body;
    EXPECT_THAT(result.error().message, AllOf(HasSubstr(at.words), Not(HasSubstr("\x1B")), Not(HasSubstr("\n"))));
  }
}

TEST(OpenAi, a_429_tells_how_long_to_wait_and_what_is_left) {
  FakeServer server({test::reply("429 Too Many Requests",
                                 "Retry-After: 17\r\nx-ratelimit-remaining-requests: 0\r\n"
                                 "x-ratelimit-reset-requests: 1m2.5s\r\n",
                                 "{}")});
  const ChatResult result = ask(server);
  ASSERT_EQ(kind_of(result), ChatErrorKind::rate_limited);
  EXPECT_EQ(result.error().retry_after, std::chrono::seconds(17));
  EXPECT_EQ(result.error().rate_limits.requests_left, 0);
  EXPECT_EQ(result.error().rate_limits.requests_reset, std::chrono::milliseconds(62'500));
}

TEST(OpenAi, an_error_inside_a_stream_of_status_200_is_an_error) {
  FakeServer server({test::stream({chunk("half"),
                                   R"(data: {"error":{"message":"The server is overloaded","code":503}})"
                                   "\n\n",
                                   kDone})});
  const ChatResult result = ask(server);
  EXPECT_EQ(kind_of(result), ChatErrorKind::overloaded);
  EXPECT_GT(result.error().usage.output_tokens, 0);
}

TEST(OpenAi, a_stream_that_breaks_off_is_no_answer) {
  FakeServer closed({test::stream({chunk("half of it")})});
  EXPECT_EQ(kind_of(ask(closed)), ChatErrorKind::network);
  FakeServer cut({[](test::FakeConnection& connection, const test::SeenRequest&) {
    connection.send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ndata");
  }});
  EXPECT_EQ(kind_of(ask(cut)), ChatErrorKind::network);
  FakeServer mute({[](test::FakeConnection&, const test::SeenRequest&) {}});
  EXPECT_EQ(kind_of(ask(mute)), ChatErrorKind::network);
}

TEST(OpenAi, what_is_not_the_protocol_is_malformed) {
  for (const std::string body :
       {"<html><title>Login</title></html>", "", "[]", "null", "{}", R"({"choices":[]})", R"({"choices":7})", "{\"cho",
        R"({"object":"list","data":[]})", R"({"choices":[{"message":{"content":"\ud800"}}]})"}) {
    FakeServer server({test::json_reply(body)});
    EXPECT_EQ(name(kind_of(ask(server))), "malformed") << body;
  }
  FakeServer deep({test::json_reply(std::string(1'000'000, '['))});
  EXPECT_EQ(kind_of(ask(deep)), ChatErrorKind::malformed);
  FakeServer broken({test::stream({chunk("a"), "data: {\"choices\": [{\n\n", kStop})});
  EXPECT_EQ(kind_of(ask(broken)), ChatErrorKind::malformed);
}

TEST(OpenAi, fields_of_other_types_than_promised_do_no_harm) {
  FakeServer server({test::json_reply(
      R"({"model":null,"choices":[{"message":{"content":[{"type":"text","text":"a"},7,{"text":"b"}],"reasoning":{},
          "refusal":null},"finish_reason":3}],"usage":{"prompt_tokens":-5,"completion_tokens":"many"}})")});
  const ChatResult result = ask(server);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "ab");
  EXPECT_TRUE(result->usage_estimated);
  EXPECT_GT(result->usage.input_tokens, 0);
}

TEST(OpenAi, an_empty_answer_is_an_answer) {
  FakeServer server({test::stream({chunk(""), kStop, kDone})});
  const ChatResult result = ask(server);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "");
}

TEST(OpenAi, an_answer_cut_at_the_limit_says_so) {
  FakeServer server({test::stream({chunk("long"), "data: {\"choices\":[{\"finish_reason\":\"length\"}]}\n\n"})});
  const ChatResult result = ask(server);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->finish, Finish::length);
}

TEST(OpenAi, a_refusal_and_a_filter_are_told_as_such) {
  FakeServer filter({test::stream({chunk("x"), "data: {\"choices\":[{\"finish_reason\":\"content_filter\"}]}\n\n"})});
  EXPECT_EQ(kind_of(ask(filter)), ChatErrorKind::refused);
  FakeServer refusal(
      {test::json_reply(R"({"choices":[{"message":{"refusal":"I will not."},"finish_reason":"stop"}]})")});
  const ChatResult result = ask(refusal);
  EXPECT_EQ(kind_of(result), ChatErrorKind::refused);
  EXPECT_THAT(result.error().message, HasSubstr("I will not."));
}

TEST(OpenAi, invalid_utf8_and_escape_sequences_do_not_come_through) {
  FakeServer bytes(
      {test::stream({"data: {\"choices\":[{\"delta\":{\"content\":\"a\xFF\xC3(b\\u001b[31mred\"}}]}\n\n", kStop})});
  const ChatResult cleaned = ask(bytes);
  ASSERT_TRUE(cleaned) << cleaned.error().message;
  EXPECT_EQ(cleaned->text, "a\xEF\xBF\xBD\xEF\xBF\xBD(bred");
}

TEST(OpenAi, a_key_that_the_server_says_or_the_prompt_holds_goes_nowhere) {
  const std::string key = kTestKey;
  FakeServer server({test::reply("401 Unauthorized", "", R"({"error":{"message":"bad key )" + key + R"("}})"),
                     test::stream({chunk("your key is " + key), kStop})});
  OpenAiModel model(test_config(server.url()), test_key());
  const ChatRequest request = test_request("the source says " + key);
  const ChatResult refused = model.complete(request, never);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, Not(HasSubstr(key)));
  const ChatResult said = model.complete(request, never);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->text, "your key is [key removed]");
  EXPECT_THAT(server.seen().at(0).body, Not(HasSubstr(key)));
  EXPECT_THAT(model.preview(request), Not(HasSubstr(key)));
}

TEST(OpenAi, the_preview_is_the_body_that_is_sent) {
  FakeServer server({test::json_reply(kWhole)});
  ModelConfig config = test_config(server.url());
  config.key = "env:FAKE_KEY";
  OpenAiModel model(config, test_key());
  const std::string preview = model.preview(test_request());
  ASSERT_TRUE(model.complete(test_request(), never));
  EXPECT_THAT(preview,
              AllOf(HasSubstr("POST " + server.url() + "/chat/completions"), HasSubstr("[key from env:FAKE_KEY]")));
  EXPECT_EQ(json::parse(preview.substr(preview.find("\n\n"))), json::parse(server.seen().at(0).body));
}

}  // namespace
}  // namespace kagent::proposer::model
