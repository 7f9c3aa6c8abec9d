// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "proposer/model/chat.h"
#include "proposer/model/config.h"
#include "values/candidate.h"

namespace kagent::proposer::model {

// Tokens of a text, guessed from its size, a little too high rather than too low.
std::int64_t estimated_tokens(std::string_view text);
std::int64_t estimated_tokens(const ChatRequest& request);

// What the roles of a run may spend together, and what each spent. Several threads may use it.
class Budget {
 public:
  explicit Budget(BudgetLimits limits) : limits_(limits) {}

  // Sets aside what the request may cost at most. The number of output tokens that are left for it, at most as many as
  // wanted; an error (budget) if so few are left that no answer fits.
  std::expected<std::int64_t, ChatError> reserve(std::int64_t input_tokens, std::int64_t output_tokens,
                                                 const Prices& prices);
  // Gives back what was set aside, and books what was used.
  void settle(const std::string& role, std::int64_t input_tokens, std::int64_t output_tokens, const Prices& prices,
              const Usage& used);
  // Books what an interrupted run used before, so that going on does not start anew.
  void add(const std::string& role, const Usage& used);

  Usage used(const std::string& role) const;
  Usage used() const;  // of all roles
  // Whether nothing can be asked any more; `why` then says which limit.
  bool exhausted(std::string* why = nullptr) const;
  const BudgetLimits& limits() const { return limits_; }

 private:
  Usage total() const;

  BudgetLimits limits_;
  mutable std::mutex mutex_;
  std::map<std::string, Usage> used_;
  std::int64_t reserved_tokens_ = 0;
  double reserved_money_ = 0;
};

// Asks another model within a budget: prices its usage and books it under a role.
class BudgetedModel : public ChatModel {
 public:
  BudgetedModel(std::shared_ptr<ChatModel> inner, std::shared_ptr<Budget> budget, std::string role, Prices prices,
                std::int64_t max_output_tokens);
  std::string name() const override { return inner_->name(); }
  ChatResult complete(const ChatRequest& request, const GiveUp& give_up) override;
  std::string preview(const ChatRequest& request) const override { return inner_->preview(request); }

 private:
  std::shared_ptr<ChatModel> inner_;
  std::shared_ptr<Budget> budget_;
  std::string role_;
  Prices prices_;
  std::int64_t max_output_tokens_;
};

}  // namespace kagent::proposer::model
