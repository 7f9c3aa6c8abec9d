// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "proposer/model/budget.h"
#include "proposer/model/chat.h"
#include "proposer/model/record.h"

namespace kagent::proposer::model {

// Where two prompts part: message, line and both lines; empty if they are the same.
std::string first_difference(const ChatRequest& recorded, const ChatRequest& asked);

// Whether a recorded answer is given to another prompt than it was recorded for. A run measures anew, so its prompts
// have other numbers in them than those of the run before.
enum class ReplayCheck { exact_prompt, order_alone };

// Recorded exchanges on their way out, in order, for all roles.
class Replay {
 public:
  explicit Replay(std::vector<Exchange> exchanges, ReplayCheck check = ReplayCheck::exact_prompt)
      : exchanges_(std::move(exchanges)), check_(check) {}
  // What was answered then, errors too. Another prompt or role than recorded is an error (replay_mismatch) that says
  // where it differs, and the next call meets the same record.
  ChatResult next(const std::string& role, const ChatRequest& request);
  std::size_t left() const;
  // Of those answered, how many were asked in other words than recorded, and where the first of them differs.
  int differing() const;
  std::string first_differing() const;

 private:
  std::vector<Exchange> exchanges_;
  ReplayCheck check_;
  mutable std::mutex mutex_;
  std::size_t next_ = 0;
  int differing_ = 0;
  std::string first_differing_;
};

// Answers from a record, without any network.
class ReplayModel : public ChatModel {
 public:
  // What was used then is booked in the budget again.
  ReplayModel(std::shared_ptr<Replay> replay, std::shared_ptr<Budget> budget, std::string role)
      : replay_(std::move(replay)), budget_(std::move(budget)), role_(std::move(role)) {}
  std::string name() const override { return "replay"; }
  ChatResult complete(const ChatRequest& request, const GiveUp&) override {
    ChatResult result = replay_->next(role_, request);
    budget_->add(role_, result ? result->usage : result.error().usage);
    return result;
  }
  std::string preview(const ChatRequest&) const override { return "nothing: the answers come from a record"; }

 private:
  std::shared_ptr<Replay> replay_;
  std::shared_ptr<Budget> budget_;
  std::string role_;
};

}  // namespace kagent::proposer::model
