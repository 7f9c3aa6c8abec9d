// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "values/candidate.h"

namespace kagent::proposer::model {

enum class Author { system, user, assistant };

struct ChatMessage {
  Author author = Author::user;
  std::string text;     // UTF-8
  bool stable = false;  // the prompt up to the end of this message comes again unchanged: worth a place in a cache
};

struct ChatRequest {
  std::vector<ChatMessage> messages;   // system ones first
  std::string answer_schema;           // JSON Schema of the answer, as text; empty: any text
  std::int64_t max_output_tokens = 0;  // 0: as configured
  std::optional<double> temperature;   // none: as configured
  std::optional<std::int64_t> seed;    // a wish: few providers keep it
};

enum class Finish {
  stop,    // the answer is whole
  length,  // cut at the limit on tokens
};

// What a provider said about its limits in a reply's headers.
struct RateLimits {
  std::optional<std::int64_t> requests_left, tokens_left;
  std::optional<std::chrono::milliseconds> requests_reset, tokens_reset;  // from the reply on
};

// Text is valid UTF-8 without terminal escapes, and untrusted all the same.
struct ChatReply {
  std::string text;       // may be empty
  std::string reasoning;  // where the provider shows it
  Usage usage;
  bool usage_estimated = false;  // the provider told none: made from sizes
  bool usage_reported = false;   // told by an agent of itself
  Finish finish = Finish::stop;
  std::string model;  // as the provider names what answered
  RateLimits rate_limits;
};

enum class ChatErrorKind {
  rate_limited,      // 429
  overloaded,        // 5xx, 529, or told so in a stream
  unauthorized,      // 401, 403, no such key
  bad_request,       // any other 4xx, redirects
  context_overflow,  // the prompt is longer than the model takes
  network,           // no connection, or one that broke
  tls,               // a certificate that does not hold
  timed_out,         // connecting, first byte, stall or total
  malformed,         // not the protocol: HTML, broken JSON, a stream without an end
  too_large,         // more bytes than the cap
  refused,           // the provider's filter or the model would not answer
  budget,            // tokens or money are used up; nothing was sent
  command_failed,    // a command proposer ended with an error
  replay_mismatch,   // replayed another prompt than the recorded one, or there is no record left
  cancelled,         // give_up said so
};

std::string_view name(ChatErrorKind kind);  // "rate_limited"
std::optional<ChatErrorKind> parse_chat_error_kind(std::string_view text);
std::string_view name(Author author);  // "system"
std::string_view name(Finish finish);  // "stop"

struct ChatError {
  ChatErrorKind kind = ChatErrorKind::network;
  std::string message;  // one line, clean, without keys; with the fix where there is one
  std::optional<std::chrono::milliseconds> retry_after = {};  // as the provider asked
  int http_status = 0;                                        // 0: none came
  Usage usage = {};                                           // what failed attempts cost, as far as known
  RateLimits rate_limits = {};
};

using ChatResult = std::expected<ChatReply, ChatError>;
// Asked several times a second while something is waited for; true ends the waiting.
using GiveUp = std::function<bool()>;

// A language model, or what stands for one. Calls from several threads at once are allowed.
class ChatModel {
 public:
  virtual ~ChatModel() = default;
  virtual std::string name() const = 0;  // "openai gpt-x", for messages
  virtual ChatResult complete(const ChatRequest& request, const GiveUp& give_up) = 0;
  // Exactly what complete() would send, and where to, keys left out: for --dry-run.
  virtual std::string preview(const ChatRequest&) const { return {}; }
};

}  // namespace kagent::proposer::model
