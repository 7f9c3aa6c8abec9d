// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/budget.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace kagent::proposer::model {
namespace {

// Code and JSON have 3 to 4 bytes a token in the common vocabularies; the lower end keeps the guess high.
constexpr std::int64_t kBytesPerToken = 3;
// What messages cost beside their text.
constexpr std::int64_t kTokensPerMessage = 8;
// Fewer hold no answer: they would be paid for nothing.
constexpr std::int64_t kLeastOutput = 512;

ChatError used_up(std::string message) {
  return {ChatErrorKind::budget, std::move(message)};
}

Usage most(std::int64_t input_tokens, std::int64_t output_tokens) {
  Usage usage;
  usage.input_tokens = input_tokens;
  usage.output_tokens = output_tokens;
  return usage;
}

}  // namespace

double Prices::cost(const Usage& usage) const {
  const auto hits = static_cast<double>(std::clamp<std::int64_t>(usage.cached_tokens, 0, usage.input_tokens));
  const double fresh = static_cast<double>(usage.input_tokens) - hits;
  return (fresh * input + hits * cached + static_cast<double>(usage.output_tokens) * output) / 1e6;
}

std::int64_t estimated_tokens(std::string_view text) {
  return (static_cast<std::int64_t>(text.size()) + kBytesPerToken - 1) / kBytesPerToken;
}

std::int64_t estimated_tokens(const ChatRequest& request) {
  std::int64_t tokens = estimated_tokens(request.answer_schema);
  for (const ChatMessage& message : request.messages) tokens += kTokensPerMessage + estimated_tokens(message.text);
  return tokens;
}

std::expected<std::int64_t, ChatError> Budget::reserve(std::int64_t input_tokens, std::int64_t output_tokens,
                                                       const Prices& prices) {
  const std::lock_guard lock(mutex_);
  const Usage so_far = total();
  std::int64_t allowed = output_tokens;
  if (limits_.tokens) {
    const std::int64_t left = *limits_.tokens - so_far.input_tokens - so_far.output_tokens - reserved_tokens_;
    allowed = std::min(allowed, left - input_tokens);
    if (allowed < std::min(kLeastOutput, output_tokens))
      return std::unexpected(
          used_up(fmt::format("the budget of {} tokens is used up: {} are left, the next prompt alone "
                              "takes about {}",
                              *limits_.tokens, std::max<std::int64_t>(left, 0), input_tokens)));
  }
  if (limits_.money) {
    const double left = *limits_.money - so_far.cost - reserved_money_;
    const double after_input = left - prices.cost(most(input_tokens, 0));
    if (prices.output > 0)
      allowed = std::min(
          allowed, static_cast<std::int64_t>(std::clamp(std::floor(after_input / prices.output * 1e6), -1.0, 1e15)));
    if (after_input < 0 || left <= 0 || allowed < std::min(kLeastOutput, output_tokens))
      return std::unexpected(used_up(
          fmt::format("the budget of {:.2f} {} is used up: {:.4f} are left, the next prompt "
                      "alone takes about {:.4f}",
                      *limits_.money, prices.currency, std::max(left, 0.0), prices.cost(most(input_tokens, 0)))));
  }
  reserved_tokens_ += input_tokens + allowed;
  reserved_money_ += prices.cost(most(input_tokens, allowed));
  return allowed;
}

void Budget::settle(const std::string& role, std::int64_t input_tokens, std::int64_t output_tokens,
                    const Prices& prices, const Usage& used) {
  const std::lock_guard lock(mutex_);
  reserved_tokens_ -= input_tokens + output_tokens;
  reserved_money_ -= prices.cost(most(input_tokens, output_tokens));
  used_[role] += used;
}

void Budget::add(const std::string& role, const Usage& used) {
  const std::lock_guard lock(mutex_);
  used_[role] += used;
}

Usage Budget::total() const {
  Usage sum;
  for (const auto& [role, usage] : used_) sum += usage;
  return sum;
}

Usage Budget::used(const std::string& role) const {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(role);
  return found == used_.end() ? Usage() : found->second;
}

Usage Budget::used() const {
  const std::lock_guard lock(mutex_);
  return total();
}

bool Budget::exhausted(std::string* why) const {
  const Usage so_far = used();
  const std::int64_t tokens = so_far.input_tokens + so_far.output_tokens;
  std::string reason;
  if (limits_.tokens && tokens >= *limits_.tokens)
    reason = fmt::format("{} of {} tokens are used", tokens, *limits_.tokens);
  else if (limits_.money && so_far.cost >= *limits_.money)
    reason = fmt::format("{:.4f} of {:.2f} of the money is spent", so_far.cost, *limits_.money);
  if (why != nullptr && !reason.empty()) *why = reason;
  return !reason.empty();
}

BudgetedModel::BudgetedModel(std::shared_ptr<ChatModel> inner, std::shared_ptr<Budget> budget, std::string role,
                             Prices prices, std::int64_t max_output_tokens)
    : inner_(std::move(inner)),
      budget_(std::move(budget)),
      role_(std::move(role)),
      prices_(std::move(prices)),
      max_output_tokens_(max_output_tokens) {}

ChatResult BudgetedModel::complete(const ChatRequest& request, const GiveUp& give_up) {
  const std::int64_t input = estimated_tokens(request);
  const std::int64_t wanted = request.max_output_tokens > 0 ? request.max_output_tokens : max_output_tokens_;
  const auto output = budget_->reserve(input, wanted, prices_);
  if (!output) return std::unexpected(output.error());
  ChatRequest bounded = request;
  bounded.max_output_tokens = *output;
  ChatResult result = inner_->complete(bounded, give_up);
  Usage& usage = result ? result->usage : result.error().usage;
  usage.cost = prices_.cost(usage);
  budget_->settle(role_, input, *output, prices_, usage);
  return result;
}

}  // namespace kagent::proposer::model
