// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proposer/model/chat.h"
#include "proposer/model/retry.h"

namespace kagent::proposer::model {

// Answers what the test says, one after the other, the last one again.
class FakeModel : public ChatModel {
 public:
  explicit FakeModel(std::vector<ChatResult> results) : results_(std::move(results)) {}
  std::string name() const override { return "fake"; }
  ChatResult complete(const ChatRequest& request, const GiveUp&) override {
    asked.push_back(request);
    return results_.at(std::min(asked.size(), results_.size()) - 1);
  }
  std::vector<ChatRequest> asked;

 private:
  std::vector<ChatResult> results_;
};

// Time that passes by waiting only.
class FakePause : public Pause {
 public:
  std::chrono::steady_clock::time_point now() override { return now_; }
  bool wait(std::chrono::milliseconds time, const GiveUp& give_up) override {
    if (give_up && give_up()) return false;
    waits.push_back(time);
    now_ += time;
    return true;
  }
  std::vector<std::chrono::milliseconds> waits;

 private:
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
};

inline ChatReply answered(const std::string& text, std::int64_t input = 100, std::int64_t output = 10) {
  ChatReply reply;
  reply.text = text;
  reply.usage.input_tokens = input;
  reply.usage.output_tokens = output;
  return reply;
}

inline ChatResult failed(ChatErrorKind kind, const std::string& message = "no") {
  return std::unexpected(ChatError{kind, message});
}

}  // namespace kagent::proposer::model
