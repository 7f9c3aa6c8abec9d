// SPDX-License-Identifier: Apache-2.0
#include "loop/tool_server.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "values/error.h"

namespace kagent::loop {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// A client of the server on two pipes, one raw line at a time.
class ToolServerTest : public ::testing::Test {
 protected:
  ToolServerTest() {
    EXPECT_EQ(::pipe(input_), 0);
    EXPECT_EQ(::pipe(output_), 0);
    server_ = std::jthread([this] {
      serve_tools(options_, tools_, input_[0], output_[1]);
      ::close(output_[1]);
    });
  }
  ~ToolServerTest() override {
    hang_up();
    server_.join();
    for (const int one : {input_[0], output_[0]}) ::close(one);
  }

  void write(const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t wrote = ::write(input_[1], bytes.data() + sent, bytes.size() - sent);
      ASSERT_GT(wrote, 0);
      sent += static_cast<std::size_t>(wrote);
    }
  }
  void hang_up() {
    if (input_[1] >= 0) ::close(input_[1]);
    input_[1] = -1;
  }
  // The next line; empty at the end.
  std::string read_line() {
    for (;;) {
      if (const auto at = buffer_.find('\n'); at != std::string::npos) {
        const std::string line = buffer_.substr(0, at);
        buffer_.erase(0, at + 1);
        return line;
      }
      char part[4096];
      const ssize_t got = ::read(output_[0], part, sizeof part);
      if (got <= 0) return "";
      buffer_.append(part, static_cast<std::size_t>(got));
    }
  }
  json ask(const std::string& line) {
    write(line + "\n");
    return json::parse(read_line());
  }
  int error_of(const std::string& line) { return ask(line).at("error").at("code").get<int>(); }
  void shake_hands(const std::string& revision = "2025-11-25") {
    const json answer = ask(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
                            revision + R"(","capabilities":{},"clientInfo":{"name":"test","version":"1"}}})");
    ASSERT_TRUE(answer.contains("result")) << answer.dump();
    write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
  }

  ToolServerOptions options_{"example", "1.0", "how to use it", 1 << 16};
  std::atomic<bool> entered_{false}, saw_cancel_{false};
  std::vector<Tool> tools_{
      {"echo", "Echo", "Says it again", R"({"type": "object"})", true,
       [](const std::string& arguments, const std::function<bool()>&) -> ToolAnswer {
         return {"heard " + arguments, arguments};
       }},
      {"refuse", "Refuse", "Never does it", R"({"type": "object"})", true,
       [](const std::string&, const std::function<bool()>&) -> ToolAnswer { throw UserError("no", "ask otherwise"); }},
      {"wait", "Wait", "Until it is cancelled", R"({"type": "object"})", false,
       [this](const std::string&, const std::function<bool()>& cancelled) -> ToolAnswer {
         entered_ = true;
         entered_.notify_all();
         while (!cancelled()) std::this_thread::yield();
         saw_cancel_ = true;
         return {"too late", ""};
       }}};

 private:
  int input_[2], output_[2];
  std::string buffer_;
  std::jthread server_;
};

constexpr const char* kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

std::string stateless(const std::string& method, const std::string& more = "") {
  return R"({"jsonrpc":"2.0","id":"a","method":")" + method + R"(","params":{)" + more + kMeta + "}}";
}

TEST_F(ToolServerTest, brackets_without_end_are_refused_and_do_no_harm) {
  const std::string deep = std::string(20'000, '[') + std::string(20'000, ']');
  write(R"({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": )" + deep + "}}\n");
  EXPECT_THAT(read_line(), HasSubstr("nested too deeply"));
  write("{\"jsonrpc\": \"2.0\", \"id\": 2, \"method\": \"ping\"}\n");
  EXPECT_THAT(read_line(), HasSubstr("\"id\":2"));
}

TEST_F(ToolServerTest, agrees_on_a_revision_that_it_knows_and_offers_its_newest_otherwise) {
  const auto agreed = [this](const std::string& wanted) {
    return ask(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":")" + wanted + "\"}}")
        .at("result")
        .at("protocolVersion")
        .get<std::string>();
  };
  EXPECT_EQ(agreed("2025-06-18"), "2025-06-18");
  EXPECT_EQ(agreed("2024-11-05"), "2024-11-05");
  EXPECT_EQ(agreed("1999-01-01"), "2025-11-25");
}

TEST_F(ToolServerTest, lists_and_calls_tools_after_the_handshake) {
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"), -32600);
  shake_hands();
  const json list = ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
  EXPECT_EQ(list["result"]["tools"].size(), 3u);
  EXPECT_EQ(list["result"]["tools"][0]["name"], "echo");
  EXPECT_FALSE(list["result"].contains("resultType"));
  const json answer =
      ask(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"x":1}}})");
  EXPECT_EQ(answer["id"], 3);
  EXPECT_EQ(answer["result"]["content"][0]["text"], "heard {\"x\":1}");
  EXPECT_EQ(answer["result"]["structuredContent"]["x"], 1);
  EXPECT_EQ(answer["result"]["isError"], false);
}

TEST_F(ToolServerTest, needs_no_handshake_where_a_request_tells_its_revision) {
  const json discovered = ask(stateless("server/discover"));
  EXPECT_EQ(discovered["result"]["supportedVersions"][0], "2026-07-28");
  EXPECT_EQ(discovered["result"]["resultType"], "complete");
  EXPECT_TRUE(discovered["result"].contains("ttlMs"));
  EXPECT_EQ(discovered["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "example");
  EXPECT_EQ(ask(stateless("tools/list"))["result"]["cacheScope"], "private");
  EXPECT_EQ(ask(stateless("tools/call", R"("name":"echo",)"))["result"]["resultType"], "complete");
  EXPECT_EQ(error_of(stateless("ping")), -32601);
}

TEST_F(ToolServerTest, names_what_it_supports_when_a_request_tells_another_revision) {
  const json answer = ask(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01"}}})");
  EXPECT_EQ(answer["error"]["code"], -32022);
  EXPECT_EQ(answer["error"]["data"]["supported"][0], "2026-07-28");
  EXPECT_EQ(answer["error"]["data"]["requested"], "2030-01-01");
}

TEST_F(ToolServerTest, tells_a_model_what_a_tool_refuses) {
  shake_hands();
  const json answer = ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refuse"}})");
  EXPECT_EQ(answer["result"]["isError"], true);
  EXPECT_EQ(answer["result"]["content"][0]["text"], "no\nfix: ask otherwise");
}

TEST_F(ToolServerTest, answers_malformed_messages_with_the_codes_of_json_rpc) {
  shake_hands();
  EXPECT_EQ(error_of("this is not json"), -32700);
  EXPECT_EQ(error_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"\xff\"}"), -32700);
  EXPECT_EQ(error_of("42"), -32600);
  EXPECT_EQ(error_of("{}"), -32600);
  EXPECT_EQ(error_of(R"({"jsonrpc":"1.0","id":1,"method":"ping"})"), -32600);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":null,"method":"ping"})"), -32600);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":[1],"method":"ping"})"), -32600);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":1,"method":7})"), -32600);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":1,"method":"nothing"})"), -32601);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})"), -32602);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"missing"}})"), -32602);
  EXPECT_EQ(error_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[]}})"),
            -32602);
  EXPECT_EQ(error_of(std::string(200'000, '[')), -32700);
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":9,"method":"ping"})")["result"], json::object());
}

TEST_F(ToolServerTest, leaves_out_a_line_that_is_too_long_and_goes_on) {
  EXPECT_EQ(error_of("\"" + std::string(1 << 20, 'a') + "\""), -32700);
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":1,"method":"ping"})")["id"], 1);
}

TEST_F(ToolServerTest, does_not_answer_notifications_responses_and_blank_lines) {
  write("\n  \r\n");
  write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/whatever\"}\n");
  write("{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n");
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":1,"method":"ping"})")["id"], 1);
}

TEST_F(ToolServerTest, answers_batches_in_the_one_revision_that_has_them) {
  const std::string batch = R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},)"
                            R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}},7])";
  shake_hands("2025-06-18");
  EXPECT_EQ(error_of(batch), -32600);
  shake_hands("2025-03-26");
  const json answers = ask(batch);
  ASSERT_TRUE(answers.is_array()) << answers.dump();
  EXPECT_EQ(answers.size(), 3u);
  EXPECT_EQ(error_of("[]"), -32600);
}

TEST_F(ToolServerTest, answers_pings_while_a_tool_runs_and_does_not_answer_a_call_that_was_cancelled) {
  shake_hands();
  write("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"wait\"}}\n");
  entered_.wait(false);
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":8,"method":"ping"})")["id"], 8);
  write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7}}\n");
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo"}})")["id"], 9);
  EXPECT_TRUE(saw_cancel_);
}

TEST_F(ToolServerTest, ends_with_its_input_and_cancels_what_runs) {
  shake_hands();
  write("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"wait\"}}\n");
  entered_.wait(false);
  hang_up();
  EXPECT_EQ(read_line(), "");
  EXPECT_TRUE(saw_cancel_);
}

}  // namespace
}  // namespace kagent::loop
