// SPDX-License-Identifier: Apache-2.0
// The OpenAI-compatible client against llama.cpp's server with a real model: the protocol is what is shown, whatever a
// small model answers. Needs KAGENT_TEST_LLAMA_SERVER (the program) and KAGENT_TEST_MODEL (a GGUF file).
#include <chrono>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "proposer/model/llama_server.h"
#include "proposer/model/model_test_parts.h"
#include "proposer/model/openai.h"
#include "proposer/model/retry.h"

namespace kagent::proposer::model {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

class RealServer : public testing::Test {
 protected:
  // One server for all tests: it loads the model once.
  static void SetUpTestSuite() {
    if (LlamaServer::is_configured()) server = std::make_unique<LlamaServer>(kTestKey, 2048);
  }
  static void TearDownTestSuite() { server.reset(); }

  void SetUp() override {
    if (!server) GTEST_SKIP() << "KAGENT_TEST_LLAMA_SERVER and KAGENT_TEST_MODEL do not name a server and a model";
    if (server->process().poll()) FAIL() << "the server ended: " << server->process().standard_error();
  }

  // Retries, since the server refuses connections until it listens, and answers 503 while it loads.
  static RetryingModel model(bool stream = true) {
    ModelConfig config = test_config(server->url());
    config.stream = stream;
    config.temperature = 0;
    config.limits.attempts = 1'000;  // loading takes as long as it takes
    return RetryingModel(std::make_shared<OpenAiModel>(config, test_key()), config.limits,
                         std::make_shared<ShortPause>(), 1);
  }

  static ChatRequest request(const std::string& text) {
    ChatRequest result = test_request(text);
    result.max_output_tokens = 32;
    result.seed = 1;
    return result;
  }

  // Waits for the server, but never longer than a moment at once, and reads what it prints, so that it is not held up.
  class ShortPause : public Pause {
   public:
    std::chrono::steady_clock::time_point now() override { return std::chrono::steady_clock::now(); }
    bool wait(std::chrono::milliseconds time, const GiveUp&) override {
      server->process().wait_for_news(-1, std::min<std::chrono::microseconds>(time, 1s));
      return !server->process().poll();
    }
  };

  static std::unique_ptr<LlamaServer> server;
};

std::unique_ptr<LlamaServer> RealServer::server;

TEST_F(RealServer, an_answer_is_streamed_with_its_usage) {
  const ChatResult result = model().complete(request("Say hello."), never);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->text.empty());
  EXPECT_FALSE(result->usage_estimated);
  EXPECT_GT(result->usage.input_tokens, 0);
  EXPECT_GT(result->usage.output_tokens, 0);
  EXPECT_LE(result->usage.output_tokens, 32);
  std::printf("answer: %s\n", result->text.c_str());
}

TEST_F(RealServer, a_schema_is_kept_by_the_answer) {
  ChatRequest asked = request("Which is faster for a reduction: shared memory or global memory? Answer in JSON.");
  asked.answer_schema = R"({"type":"object","properties":{"answer":{"type":"string","enum":["shared","global"]},
                            "speedup":{"type":"integer"}},"required":["answer","speedup"],"additionalProperties":false})";
  const ChatResult result = model().complete(asked, never);
  ASSERT_TRUE(result) << result.error().message;
  const json answer = json::parse(result->text, nullptr, false);
  ASSERT_TRUE(answer.is_object()) << result->text;
  EXPECT_TRUE(answer["answer"] == "shared" || answer["answer"] == "global") << result->text;
  EXPECT_TRUE(answer["speedup"].is_number_integer()) << result->text;
  std::printf("answer: %s\n", result->text.c_str());
}

TEST_F(RealServer, an_answer_comes_whole_without_a_stream_too) {
  const ChatResult streamed = model().complete(request("Count to five."), never);
  const ChatResult whole = model(false).complete(request("Count to five."), never);
  ASSERT_TRUE(streamed) << streamed.error().message;
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->usage.input_tokens, streamed->usage.input_tokens);
  EXPECT_FALSE(whole->text.empty());
}

TEST_F(RealServer, an_answer_cut_at_the_limit_says_so) {
  ChatRequest asked = request("Write a long story about a compiler.");
  asked.max_output_tokens = 8;
  const ChatResult result = model().complete(asked, never);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->finish, Finish::length);
  EXPECT_EQ(result->usage.output_tokens, 8);
}

TEST_F(RealServer, a_prompt_beyond_the_context_is_told_as_such) {
  std::string text;
  for (int i = 0; i < 4'000; ++i) text += "word" + std::to_string(i) + " ";
  const ChatResult result = model().complete(request(text), never);
  ASSERT_FALSE(result);
  EXPECT_EQ(name(result.error().kind), "context_overflow") << result.error().message;
}

TEST_F(RealServer, a_wrong_key_is_told_as_such) {
  ASSERT_TRUE(model().complete(request("Hi."), never));  // the server is up
  const ChatResult result =
      OpenAiModel(test_config(server->url()), test_key("sk-wrong-key-0123456789")).complete(request("Hi."), never);
  ASSERT_FALSE(result);
  EXPECT_EQ(name(result.error().kind), "unauthorized") << result.error().message;
}

TEST_F(RealServer, giving_up_ends_a_running_answer) {
  ChatRequest asked = request("Write a very long story about a compiler.");
  asked.max_output_tokens = 1'500;
  ASSERT_TRUE(model().complete(request("Hi."), never));
  int looks = 0;
  const ChatResult result =
      OpenAiModel(test_config(server->url()), test_key()).complete(asked, [&] { return ++looks > 2; });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ChatErrorKind::cancelled);
}

}  // namespace
}  // namespace kagent::proposer::model
