// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/endpoint.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ctime>

#include <curl/curl.h>
#include <fmt/core.h>

#include "proposer/model/json_fields.h"
#include "util/shallow_json.h"
#include "util/text.h"

namespace kagent::proposer::model {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

// Of what a server says about its failure.
constexpr std::size_t kShownBytes = 400;
// Longer than any wait that anybody would honour; keeps sums in range.
constexpr double kLongestSeconds = 366.0 * 86'400;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || value > kLongestSeconds)
    return std::nullopt;
  return value;
}

milliseconds from_seconds(double seconds) {
  return milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

// "1s", "6m0s", "1h2m3.5s", "20ms", as OpenAI writes; an RFC 3339 time, as Anthropic does; or seconds.
std::optional<milliseconds> parse_reset(std::string_view text, system_clock::time_point now) {
  if (const auto seconds = number(text)) return from_seconds(*seconds);
  if (text.size() >= 20 && text[4] == '-') {
    std::tm parts{};
    if (::strptime(std::string(text).c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) return std::nullopt;
    const auto at = system_clock::from_time_t(::timegm(&parts));
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(at - now));
  }
  double seconds = 0;
  while (!text.empty()) {
    const auto digits = text.find_first_not_of("0123456789.");
    const auto value = number(text.substr(0, digits));
    if (!value || digits == std::string_view::npos) return std::nullopt;
    text.remove_prefix(digits);
    const auto unit = text.substr(0, text.find_first_of("0123456789."));
    if (unit == "ms")
      seconds += *value / 1000;
    else if (unit == "s")
      seconds += *value;
    else if (unit == "m")
      seconds += 60 * *value;
    else if (unit == "h")
      seconds += 3600 * *value;
    else
      return std::nullopt;
    text.remove_prefix(unit.size());
  }
  return from_seconds(std::min(seconds, kLongestSeconds));
}

std::string one_line(std::string_view text) {
  std::string line = util::clean(text, kShownBytes);
  std::ranges::replace(line, '\n', ' ');
  std::ranges::replace(line, '\t', ' ');
  const auto first = line.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : line.substr(first, line.find_last_not_of(' ') - first + 1);
}

ChatErrorKind kind_of_status(int status) {
  if (status == 429) return ChatErrorKind::rate_limited;
  if (status == 401 || status == 403 || status == 407) return ChatErrorKind::unauthorized;
  if (status == 413) return ChatErrorKind::context_overflow;
  if (status == 408 || status == 409 || status == 425) return ChatErrorKind::overloaded;
  return status >= 500 ? ChatErrorKind::overloaded : ChatErrorKind::bad_request;
}

std::string told(const HttpReply& reply) {
  if (reply.status >= 300 && reply.status < 400) {
    const auto location = reply.headers.find("location");
    return "redirected to " + (location == reply.headers.end() ? std::string("nowhere") : location->second) +
           ", which is not followed; if that is the right place, write it as \"base_url\"";
  }
  return failure_text(reply.body);
}

}  // namespace

std::optional<milliseconds> parse_retry_after(const std::string& value, system_clock::time_point now) {
  if (const auto seconds = number(value)) return from_seconds(*seconds);
  const std::time_t at = curl_getdate(value.c_str(), nullptr);
  if (at < 0 || value.find(':') == std::string::npos) return std::nullopt;
  const double seconds = std::chrono::duration<double>(system_clock::from_time_t(at) - now).count();
  return from_seconds(std::clamp(seconds, 0.0, kLongestSeconds));
}

RateLimits parse_rate_limits(const std::map<std::string, std::string>& headers, system_clock::time_point now) {
  const auto find = [&](const std::string& what, const std::string& of) -> std::string {
    for (const std::string& name : {"x-ratelimit-" + what + "-" + of, "anthropic-ratelimit-" + of + "-" + what})
      if (const auto found = headers.find(name); found != headers.end()) return found->second;
    return {};
  };
  const auto left = [&](const std::string& of) -> std::optional<std::int64_t> {
    const auto value = number(find("remaining", of));
    return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
  };
  return {left("requests"), left("tokens"), parse_reset(find("reset", "requests"), now),
          parse_reset(find("reset", "tokens"), now)};
}

std::string failure_text(const std::string& body) {
  const Json root = util::parse_shallow(util::clean(body, 1 << 20));
  const Json& first = root.is_array() && !root.empty() ? root[0] : root;
  const Json& error = field(first, "error");
  for (const Json* place : {&field(error, "message"), &error, &field(first, "message"), &field(first, "detail")})
    if (place->is_string() && !place->get_ref<const std::string&>().empty()) {
      std::string text = one_line(place->get_ref<const std::string&>());
      for (const char* extra : {"type", "code", "param"})
        if (const std::string word = text_of(field(error, extra)); !word.empty())
          text += " (" + std::string(extra) + " " + one_line(word) + ")";
      return text;
    }
  const std::string start = lower(body.substr(0, 4096));
  if (start.find("<html") != std::string::npos || start.find("<!doctype") != std::string::npos) {
    const auto open = start.find("<title>"), close = start.find("</title>");
    if (open == std::string::npos || close == std::string::npos || close < open) return "an HTML page";
    return "an HTML page: " + one_line(body.substr(open + 7, close - open - 7));
  }
  return body.empty() ? "nothing more was said" : one_line(body);
}

std::optional<ChatErrorKind> kind_of_words(std::string_view words) {
  struct Words {
    std::string_view part;
    ChatErrorKind kind;
  };
  // As OpenAI, Anthropic, vLLM, llama.cpp's server and Ollama name them.
  static constexpr std::array kWords = {
      Words{"context_length_exceeded", ChatErrorKind::context_overflow},
      Words{"exceed_context_size", ChatErrorKind::context_overflow},
      Words{"maximum context length", ChatErrorKind::context_overflow},
      Words{"context size", ChatErrorKind::context_overflow},
      Words{"context window", ChatErrorKind::context_overflow},
      Words{"prompt is too long", ChatErrorKind::context_overflow},
      Words{"request_too_large", ChatErrorKind::context_overflow},
      Words{"overloaded", ChatErrorKind::overloaded},
      Words{"api_error", ChatErrorKind::overloaded},
      Words{"server_error", ChatErrorKind::overloaded},
      Words{"unavailable", ChatErrorKind::overloaded},
      Words{"insufficient_quota", ChatErrorKind::unauthorized},
      Words{"billing", ChatErrorKind::unauthorized},
      Words{"rate_limit", ChatErrorKind::rate_limited},
      Words{"rate limit", ChatErrorKind::rate_limited},
      Words{"authentication", ChatErrorKind::unauthorized},
      Words{"permission_error", ChatErrorKind::unauthorized},
      Words{"content_filter", ChatErrorKind::refused},
      Words{"content_policy", ChatErrorKind::refused},
  };
  const std::string text = lower(words);
  for (const Words& known : kWords)
    if (text.find(known.part) != std::string::npos) return known.kind;
  return std::nullopt;
}

ChatError Endpoint::error(ChatErrorKind kind, std::string message) const {
  return {kind, one_line(key->scrub(std::move(message)))};
}

std::expected<HttpReply, ChatError> Endpoint::post(const std::string& body, const OnStream& on_stream,
                                                   const GiveUp& give_up) const {
  HttpRequest request{config.base_url + path, headers,      {key.get(), key_prefix}, key->scrub(body), config.ca_file,
                      config.allow_http,      config.limits};
  auto reply = http_post(request, on_stream, give_up);
  if (!reply) {
    reply.error().message = config.base_url + ": " + reply.error().message;
    return reply;
  }
  if (reply->status == 200) return reply;
  const auto now = system_clock::now();
  const std::string said = told(*reply);
  ChatErrorKind kind = kind_of_status(reply->status);
  // A 429 may mean that the money is gone, a 400 or 500 that the prompt is too long: no waiting helps.
  if (const auto known = kind_of_words(said))
    if (kind == ChatErrorKind::bad_request || *known == ChatErrorKind::context_overflow ||
        said.find("insufficient_quota") != std::string::npos)
      kind = *known;
  ChatError failed = error(kind, fmt::format("{}: status {}: {}", config.base_url, reply->status, said));
  failed.http_status = reply->status;
  failed.rate_limits = parse_rate_limits(reply->headers, now);
  if (const auto ms = reply->headers.find("retry-after-ms"); ms != reply->headers.end()) {
    if (const auto value = number(ms->second)) failed.retry_after = from_seconds(*value / 1000);
  } else if (const auto after = reply->headers.find("retry-after"); after != reply->headers.end()) {
    failed.retry_after = parse_retry_after(after->second, now);
  }
  return std::unexpected(std::move(failed));
}

std::string Endpoint::preview(const std::string& body) const {
  std::string text = "POST " + config.base_url + path + "\nContent-Type: application/json\nUser-Agent: kagent/0.1\n";
  for (const std::string& line : headers) text += line + "\n";
  if (!config.key.empty()) text += key_prefix + "[key from " + config.key + "]\n";
  const std::string sent = key->scrub(body);
  const Json pretty = util::parse_shallow(sent);
  return text + "\n" + (pretty.is_discarded() ? sent : dumped(pretty, 2)) + "\n";
}

}  // namespace kagent::proposer::model
