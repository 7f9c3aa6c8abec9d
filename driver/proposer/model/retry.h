// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <string>

#include "proposer/model/chat.h"
#include "proposer/model/config.h"

namespace kagent::proposer::model {

// Time as retries see it: a seam, so that tests do not wait.
class Pause {
 public:
  virtual ~Pause() = default;
  virtual std::chrono::steady_clock::time_point now() = 0;
  // False if `give_up` ended it early.
  virtual bool wait(std::chrono::milliseconds time, const GiveUp& give_up) = 0;
};

// The real one.
std::shared_ptr<Pause> real_pause();

// Whether another try may bring what this one did not.
bool is_worth_retrying(ChatErrorKind kind);

// Asks another model again after failures that pass, and no oftener than its provider allows: what a 429 asked for,
// what the headers of replies say is left, and the configured requests a minute. Usage is that of all attempts.
class RetryingModel : public ChatModel {
 public:
  RetryingModel(std::shared_ptr<ChatModel> inner, const ExchangeLimits& limits, std::shared_ptr<Pause> pause,
                std::uint64_t seed);
  std::string name() const override { return inner_->name(); }
  ChatResult complete(const ChatRequest& request, const GiveUp& give_up) override;
  std::string preview(const ChatRequest& request) const override { return inner_->preview(request); }

 private:
  std::chrono::milliseconds until_free();
  std::chrono::milliseconds backoff(int attempt);
  void note(const RateLimits& limits);
  bool wait_for_turn(const GiveUp& give_up);

  std::shared_ptr<ChatModel> inner_;
  ExchangeLimits limits_;
  std::shared_ptr<Pause> pause_;
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::deque<std::chrono::steady_clock::time_point> sent_;  // of the last minute
  std::chrono::steady_clock::time_point free_at_;           // as the provider said
};

}  // namespace kagent::proposer::model
