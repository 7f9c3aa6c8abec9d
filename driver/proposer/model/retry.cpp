// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/retry.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/core.h>

namespace kagent::proposer::model {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Doubled at each attempt up to the most, half of it by chance, so that clients that failed together do not come back
// together.
constexpr milliseconds kFirstBackoff{1'000};
constexpr milliseconds kMostBackoff{60'000};
constexpr milliseconds kLook{50};

class RealPause : public Pause {
 public:
  steady_clock::time_point now() override { return steady_clock::now(); }
  bool wait(milliseconds time, const GiveUp& give_up) override {
    const auto end = now() + time;
    while (true) {
      if (give_up && give_up()) return false;
      const auto left = std::chrono::duration_cast<milliseconds>(end - now());
      if (left <= milliseconds(0)) return true;
      std::this_thread::sleep_for(std::min(left, kLook));
    }
  }
};

}  // namespace

std::shared_ptr<Pause> real_pause() {
  return std::make_shared<RealPause>();
}

bool is_worth_retrying(ChatErrorKind kind) {
  switch (kind) {
    case ChatErrorKind::rate_limited:
    case ChatErrorKind::overloaded:
    case ChatErrorKind::network:
    case ChatErrorKind::timed_out:
    case ChatErrorKind::malformed:  // a gateway's page, half a reply
      return true;
    case ChatErrorKind::unauthorized:
    case ChatErrorKind::bad_request:
    case ChatErrorKind::context_overflow:
    case ChatErrorKind::tls:
    case ChatErrorKind::too_large:
    case ChatErrorKind::refused:
    case ChatErrorKind::budget:
    case ChatErrorKind::command_failed:
    case ChatErrorKind::replay_mismatch:
    case ChatErrorKind::cancelled:
      return false;
  }
  return false;
}

RetryingModel::RetryingModel(std::shared_ptr<ChatModel> inner, const ExchangeLimits& limits,
                             std::shared_ptr<Pause> pause, std::uint64_t seed)
    : inner_(std::move(inner)), limits_(limits), pause_(std::move(pause)), random_(seed) {
  free_at_ = pause_->now();
}

milliseconds RetryingModel::until_free() {
  const std::lock_guard lock(mutex_);
  const auto now = pause_->now();
  auto free = free_at_;
  while (!sent_.empty() && now - sent_.front() >= std::chrono::minutes(1)) sent_.pop_front();
  if (limits_.requests_per_minute > 0 && sent_.size() >= static_cast<std::size_t>(limits_.requests_per_minute))
    free = std::max(free, sent_.front() + std::chrono::minutes(1));
  if (free <= now) {
    sent_.push_back(now);
    return milliseconds(0);
  }
  return std::chrono::ceil<milliseconds>(free - now);
}

bool RetryingModel::wait_for_turn(const GiveUp& give_up) {
  for (milliseconds time = until_free(); time > milliseconds(0); time = until_free())
    if (!pause_->wait(time, give_up)) return false;
  return true;
}

milliseconds RetryingModel::backoff(int attempt) {
  const std::lock_guard lock(mutex_);
  const milliseconds most = std::min(kMostBackoff, kFirstBackoff * (1 << std::min(attempt, 16)));
  std::uniform_int_distribution<milliseconds::rep> half(0, most.count() / 2);
  return most / 2 + milliseconds(half(random_));
}

void RetryingModel::note(const RateLimits& limits) {
  milliseconds wait{0};
  if (limits.requests_left == 0 && limits.requests_reset) wait = *limits.requests_reset;
  if (limits.tokens_left == 0 && limits.tokens_reset) wait = std::max(wait, *limits.tokens_reset);
  const std::lock_guard lock(mutex_);
  free_at_ = std::max(free_at_, pause_->now() + std::min(wait, limits_.longest_wait));
}

ChatResult RetryingModel::complete(const ChatRequest& request, const GiveUp& give_up) {
  Usage spent;
  const auto with_usage = [&](ChatError error) {
    error.usage = spent;
    return std::unexpected(std::move(error));
  };
  for (int attempt = 0;; ++attempt) {
    if (!wait_for_turn(give_up))
      return with_usage({ChatErrorKind::cancelled, "given up while waiting for a turn with " + name()});
    ChatResult result = inner_->complete(request, give_up);
    spent += result ? result->usage : result.error().usage;
    note(result ? result->rate_limits : result.error().rate_limits);
    if (result) {
      result->usage = spent;
      return result;
    }
    ChatError error = std::move(result.error());
    if (!is_worth_retrying(error.kind)) return with_usage(std::move(error));
    if (attempt + 1 >= limits_.attempts) {
      if (limits_.attempts > 1) error.message += fmt::format(" (the last of {} attempts)", limits_.attempts);
      return with_usage(std::move(error));
    }
    if (error.retry_after && *error.retry_after > limits_.longest_wait) {
      error.message += fmt::format("; it asks to wait {} s, longer than {} s (limits/longest_wait_s)",
                                   error.retry_after->count() / 1000, limits_.longest_wait.count() / 1000);
      return with_usage(std::move(error));
    }
    const milliseconds wait = std::max(backoff(attempt), error.retry_after.value_or(milliseconds(0)));
    if (!pause_->wait(wait, give_up)) {
      error.kind = ChatErrorKind::cancelled;
      return with_usage(std::move(error));
    }
  }
}

}  // namespace kagent::proposer::model
