// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proposer/model/chat.h"
#include "proposer/model/config.h"
#include "proposer/model/http.h"
#include "proposer/model/secret.h"

namespace kagent::proposer::model {

// Where a provider is asked, and what is alike in all of them.
struct Endpoint {
  ModelConfig config;
  std::shared_ptr<const Secret> key;  // never null, perhaps empty
  std::string path;                   // after the base URL
  std::string key_prefix;             // of the header with the key
  std::vector<std::string> headers;

  // A reply of status 200; all else is an error, classified, with what the server said about waiting.
  std::expected<HttpReply, ChatError> post(const std::string& body, const OnStream& on_stream,
                                           const GiveUp& give_up) const;
  // Cleaned, without the key.
  ChatError error(ChatErrorKind kind, std::string message) const;
  // What post() would send, and where to.
  std::string preview(const std::string& body) const;
};

// "120" or an HTTP date; nothing if it is neither. Never negative.
std::optional<std::chrono::milliseconds> parse_retry_after(const std::string& value,
                                                           std::chrono::system_clock::time_point now);
// "x-ratelimit-*" and "anthropic-ratelimit-*".
RateLimits parse_rate_limits(const std::map<std::string, std::string>& headers,
                             std::chrono::system_clock::time_point now);
// What a failed reply says, as one line: the message of its JSON, the title of its HTML, or its first words.
std::string failure_text(const std::string& body);
// Of the message and names in an error that a server told in JSON, whatever the status.
std::optional<ChatErrorKind> kind_of_words(std::string_view words);

}  // namespace kagent::proposer::model
