// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/replay.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "util/text.h"

namespace kagent::proposer::model {
namespace {

constexpr std::size_t kShownBytes = 120;

std::string line_at(const std::string& text, std::size_t at) {
  const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t start = before == std::string::npos ? 0 : before + 1;
  return util::clean(text.substr(start, std::min(text.find('\n', start), text.size()) - start), kShownBytes);
}

std::string text_difference(const std::string& recorded, const std::string& asked) {
  const auto [a, b] = std::ranges::mismatch(recorded, asked);
  const auto at = static_cast<std::size_t>(a - recorded.begin());
  const auto line = 1 + std::count(recorded.begin(), a, '\n');
  return fmt::format("line {}: recorded '{}', now '{}'", line, line_at(recorded, at), line_at(asked, at));
}

}  // namespace

std::string first_difference(const ChatRequest& recorded, const ChatRequest& asked) {
  const std::size_t common = std::min(recorded.messages.size(), asked.messages.size());
  for (std::size_t i = 0; i < common; ++i) {
    const ChatMessage &then = recorded.messages[i], &now = asked.messages[i];
    if (then.author != now.author)
      return fmt::format("message {} was of {}, now of {}", i + 1, name(then.author), name(now.author));
    if (then.text != now.text)
      return fmt::format("message {} ({}), {}", i + 1, name(then.author), text_difference(then.text, now.text));
  }
  if (recorded.messages.size() != asked.messages.size())
    return fmt::format("{} messages were recorded, now there are {}", recorded.messages.size(), asked.messages.size());
  if (recorded.answer_schema != asked.answer_schema)
    return "the answer's schema, " + text_difference(recorded.answer_schema, asked.answer_schema);
  return {};
}

ChatResult Replay::next(const std::string& role, const ChatRequest& request) {
  const std::lock_guard lock(mutex_);
  const auto mismatch = [](std::string message) {
    return std::unexpected(ChatError{ChatErrorKind::replay_mismatch, std::move(message)});
  };
  if (next_ == exchanges_.size())
    return mismatch(fmt::format("the record ends after {} exchanges, and another one is asked for", exchanges_.size()));
  const Exchange& exchange = exchanges_[next_];
  if (exchange.role != role)
    return mismatch(
        fmt::format("exchange {} was of the role '{}', now '{}' asks", exchange.number, exchange.role, role));
  if (prompt_hash(exchange.request) != prompt_hash(request)) {
    std::string where =
        fmt::format("exchange {} had another prompt: {}", exchange.number, first_difference(exchange.request, request));
    if (check_ == ReplayCheck::exact_prompt) return mismatch(std::move(where));
    if (++differing_ == 1) first_differing_ = std::move(where);
  }
  ++next_;
  return exchange.result;
}

int Replay::differing() const {
  const std::lock_guard lock(mutex_);
  return differing_;
}

std::string Replay::first_differing() const {
  const std::lock_guard lock(mutex_);
  return first_differing_;
}

std::size_t Replay::left() const {
  const std::lock_guard lock(mutex_);
  return exchanges_.size() - next_;
}

}  // namespace kagent::proposer::model
