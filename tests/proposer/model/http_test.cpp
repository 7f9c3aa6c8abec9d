// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/http.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proposer/model/fake_server.h"
#include "proposer/model/model_test_parts.h"
#include "util/files.h"

namespace kagent::proposer::model {
namespace {

using namespace std::chrono_literals;
using test::FakeConnection;
using test::FakeServer;
using test::SeenRequest;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kStreamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

HttpRequest request_to(const std::string& url) {
  HttpRequest request;
  request.url = url + "/v1/x";
  request.body = "{}";
  return request;
}

// Posts it, with all that is streamed thrown away.
std::expected<HttpReply, ChatError> post(const HttpRequest& request) {
  return http_post(
      request, [](std::string_view) {}, never);
}

ChatErrorKind kind_of(const std::expected<HttpReply, ChatError>& reply) {
  if (!reply) return reply.error().kind;
  ADD_FAILURE() << "status " << reply->status;
  return ChatErrorKind::budget;
}

TEST(Http, a_reply_of_any_status_is_given_with_its_headers) {
  FakeServer server({test::reply("503 Busy", "Retry-After:  5 \r\nX-Odd: a\r\n", "later")});
  const auto reply = post(request_to(server.url()));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 503);
  EXPECT_EQ(reply->body, "later");
  EXPECT_EQ(reply->headers.at("retry-after"), "5");
}

TEST(Http, a_server_that_says_nothing_is_left_after_the_limit_for_the_first_byte) {
  FakeServer server({[](FakeConnection& connection, const SeenRequest&) { connection.wait_for_close(); }});
  HttpRequest request = request_to(server.url());
  request.limits.first_byte = 50ms;
  const auto reply = post(request);
  EXPECT_EQ(kind_of(reply), ChatErrorKind::timed_out);
  EXPECT_THAT(reply.error().message, HasSubstr("first_byte_s"));
}

TEST(Http, headers_alone_are_no_first_byte) {
  FakeServer server({[](FakeConnection& connection, const SeenRequest&) {
    connection.send(kStreamHead);
    connection.wait_for_close();
  }});
  HttpRequest request = request_to(server.url());
  request.limits.first_byte = 50ms;
  EXPECT_THAT(post(request).error().message, HasSubstr("first_byte_s"));
}

TEST(Http, a_stream_that_stalls_is_left) {
  FakeServer server({[](FakeConnection& connection, const SeenRequest&) {
    connection.send(kStreamHead + "data: a\n\n");
    connection.wait_for_close();
  }});
  HttpRequest request = request_to(server.url());
  request.limits.stall = 50ms;
  const auto reply = post(request);
  EXPECT_EQ(kind_of(reply), ChatErrorKind::timed_out);
  EXPECT_THAT(reply.error().message, HasSubstr("stall_s"));
}

TEST(Http, a_slow_drip_ends_at_the_limit_for_the_whole) {
  FakeServer server({[](FakeConnection& connection, const SeenRequest&) {
    connection.send(kStreamHead);
    while (connection.send(": still here\n\n")) std::this_thread::yield();
  }});
  HttpRequest request = request_to(server.url());
  request.limits.total = 200ms;
  request.limits.reply_bytes = std::int64_t{1} << 40;
  const auto reply = post(request);
  EXPECT_EQ(kind_of(reply), ChatErrorKind::timed_out);
  EXPECT_THAT(reply.error().message, HasSubstr("total_s"));
}

TEST(Http, an_endless_reply_ends_at_the_cap) {
  for (const std::string& head : {kStreamHead, std::string("HTTP/1.1 500 Bad\r\n\r\n")}) {
    FakeServer server({[&](FakeConnection& connection, const SeenRequest&) {
      connection.send(head);
      while (connection.send(std::string(64 * 1024, 'x'))) {
      }
    }});
    const auto reply = post(request_to(server.url()));
    EXPECT_EQ(kind_of(reply), ChatErrorKind::too_large);
    EXPECT_THAT(reply.error().message, HasSubstr("16777216"));
  }
}

TEST(Http, endless_headers_end_too) {
  FakeServer server({[](FakeConnection& connection, const SeenRequest&) {
    connection.send("HTTP/1.1 200 OK\r\n");
    while (connection.send("X-Filler: " + std::string(8'000, 'x') + "\r\n")) {
    }
  }});
  const auto kind = kind_of(post(request_to(server.url())));
  EXPECT_TRUE(kind == ChatErrorKind::too_large || kind == ChatErrorKind::network) << name(kind);
}

TEST(Http, giving_up_ends_the_waiting) {
  FakeServer server({[](FakeConnection& connection, const SeenRequest&) { connection.wait_for_close(); }});
  int asked = 0;
  const auto reply = http_post(request_to(server.url()), {}, [&] { return ++asked == 3; });
  EXPECT_EQ(kind_of(reply), ChatErrorKind::cancelled);
}

TEST(Http, a_redirect_is_not_followed) {
  FakeServer target({test::json_reply("{}")});
  FakeServer server({test::reply("307 Temporary Redirect", "Location: " + target.url() + "/steal\r\n", "")});
  HttpRequest request = request_to(server.url());
  const auto key = test_key();
  request.key = {key.get(), "Authorization: Bearer "};
  const auto reply = post(request);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 307);
  EXPECT_THAT(target.seen(), IsEmpty());
}

TEST(Http, nobody_listening_is_an_error_of_the_network) {
  std::string url;
  { url = FakeServer({test::json_reply("{}")}).url(); }
  EXPECT_EQ(kind_of(post(request_to(url))), ChatErrorKind::network);
}

TEST(Http, what_is_not_http_is_an_error_of_the_network) {
  FakeServer server({[](FakeConnection& connection, const SeenRequest&) { connection.send("SSH-2.0-OpenSSH\r\n"); }});
  EXPECT_EQ(kind_of(post(request_to(server.url()))), ChatErrorKind::network);
}

TEST(Http, tls_holds_with_a_certificate_that_is_known) {
  util::TemporaryFolder folder;
  FakeServer server({test::json_reply("{\"a\":1}")}, folder.path(), "127.0.0.1");
  HttpRequest request = request_to(server.url());
  request.ca_file = server.certificate();
  const auto reply = post(request);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "{\"a\":1}");
}

TEST(Http, a_certificate_that_nobody_knows_ends_before_the_key_is_sent) {
  util::TemporaryFolder folder;
  FakeServer server({test::json_reply("{}")}, folder.path(), "127.0.0.1");
  const auto reply = post(request_to(server.url()));
  EXPECT_EQ(kind_of(reply), ChatErrorKind::tls);
  EXPECT_THAT(reply.error().message, HasSubstr("ca_file"));
  EXPECT_THAT(server.seen(), IsEmpty());
}

TEST(Http, a_certificate_for_another_host_does_not_count) {
  util::TemporaryFolder folder;
  FakeServer server({test::json_reply("{}")}, folder.path(), "models.example");
  HttpRequest request = request_to(server.url());
  request.ca_file = server.certificate();
  EXPECT_EQ(kind_of(post(request)), ChatErrorKind::tls);
  EXPECT_THAT(server.seen(), IsEmpty());
}

TEST(Http, a_plain_server_behind_an_https_url_is_an_error_of_tls) {
  FakeServer server({test::json_reply("{}")});
  EXPECT_EQ(kind_of(post(request_to("https" + server.url().substr(4)))), ChatErrorKind::tls);
}

TEST(Http, plain_http_is_for_this_machine_alone_unless_allowed) {
  EXPECT_EQ(url_problem("http://localhost:8080/v1", false), "");
  EXPECT_EQ(url_problem("http://127.0.0.1:1", false), "");
  EXPECT_EQ(url_problem("http://127.1/v1", false), "");
  EXPECT_EQ(url_problem("http://[::1]:8080", false), "");
  EXPECT_EQ(url_problem("https://models.example/v1", false), "");
  EXPECT_EQ(url_problem("http://models.example/v1", true), "");
  for (const char* url : {"http://models.example", "http://localhost.example", "http://127.0.0.1.example",
                          "http://127.example.1.1", "http://10.0.0.1", "ftp://localhost", "file:///etc/passwd", "",
                          "https://user:secret@models.example", "https://models.example?x=1"})
    EXPECT_THAT(url_problem(url, false), AllOf(Not(IsEmpty()), Not(HasSubstr("secret")))) << url;
}

TEST(Http, a_url_that_may_not_be_used_is_not_connected_to) {
  EXPECT_EQ(kind_of(post(request_to("http://models.example"))), ChatErrorKind::bad_request);
}

}  // namespace
}  // namespace kagent::proposer::model
