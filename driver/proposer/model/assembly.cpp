// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/assembly.h"

#include <chrono>
#include <cstddef>
#include <utility>

#include "proposer/model/budget.h"
#include "proposer/model/sse.h"
#include "util/text.h"

namespace kagent::proposer::model {
namespace {

// Servers send streams under wrong types too.
bool looks_like_stream(const std::string& body) {
  const auto first = body.find_first_not_of("\xEF\xBB\xBF \r\n");
  if (first == std::string::npos) return false;
  const std::string_view rest = std::string_view(body).substr(first);
  return rest.starts_with("data:") || rest.starts_with("event:") || rest.starts_with(":");
}

}  // namespace

void Assembly::fail(ChatErrorKind kind, const std::string& message) {
  if (!error_) error_ = endpoint_.error(kind, endpoint_.config.base_url + ": " + message);
}

void Assembly::fail_as_told(std::string_view body) {
  const std::string words = failure_text(std::string(body));
  fail(kind_of_words(words).value_or(ChatErrorKind::overloaded), words);
}

void Assembly::refuse(const std::string& why) {
  refusal_ = refusal_.value_or("") + why;
}

ChatResult Assembly::result(const ChatRequest& request) {
  if (refusal_) fail(ChatErrorKind::refused, "the model would not answer: " + *refusal_);
  if (!ended_) fail(ChatErrorKind::network, "the stream ended before the answer did");
  if (!usage_told_) {
    reply_.usage_estimated = true;
    reply_.usage.input_tokens = estimated_tokens(request);
    reply_.usage.output_tokens = estimated_tokens(reply_.text) + estimated_tokens(reply_.reasoning);
  }
  if (error_) {
    error_->usage = reply_.usage;
    return std::unexpected(*error_);
  }
  for (std::string* text : {&reply_.text, &reply_.reasoning, &reply_.model})
    *text = util::clean(endpoint_.key->scrub(std::move(*text)), static_cast<std::size_t>(-1));
  return std::move(reply_);
}

ChatResult ask(const Endpoint& endpoint, const std::string& body, Assembly& assembly, const ChatRequest& request,
               const GiveUp& give_up) {
  SseReader reader([&](std::string_view, std::string_view data) { assembly.event(data); });
  bool streamed = false;
  const auto on_stream = [&](std::string_view piece) {
    streamed = true;
    reader.feed(piece);
  };
  const auto started = std::chrono::steady_clock::now();
  auto reply = endpoint.post(body, on_stream, give_up);
  if (reply && !streamed && looks_like_stream(reply->body)) on_stream(reply->body);
  if (streamed) reader.finish();
  if (reply && !streamed) assembly.whole(reply->body);

  ChatResult result = std::unexpected(reply ? ChatError{} : reply.error());
  if (reply || streamed) result = assembly.result(request);
  // A connection that broke after the answer's end has lost nothing; before it, its own words say more.
  if (!reply && !result) {
    const Usage spent = result.error().usage;
    result = std::unexpected(reply.error());
    result.error().usage = spent;
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - started;
  (result ? result->usage : result.error().usage).seconds = time.count();
  if (result && reply) result->rate_limits = parse_rate_limits(reply->headers, std::chrono::system_clock::now());
  return result;
}

}  // namespace kagent::proposer::model
