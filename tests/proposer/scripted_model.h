// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "proposer/model/chat.h"

namespace kagent::proposer {

// A fake: answers from a list, and keeps what it was asked.
class ScriptedModel : public model::ChatModel {
 public:
  explicit ScriptedModel(std::string model) : model_(std::move(model)) {}

  std::string name() const override { return "scripted " + model_; }
  model::ChatResult complete(const model::ChatRequest& request, const model::GiveUp& give_up) override {
    asked.push_back(request);
    if (give_up()) return std::unexpected(model::ChatError{model::ChatErrorKind::cancelled, "given up"});
    if (answers.empty()) return std::unexpected(model::ChatError{model::ChatErrorKind::overloaded, "no answer left"});
    model::ChatResult result = std::move(answers.front());
    answers.pop_front();
    return result;
  }

  void will_answer(const std::string& text) {
    model::ChatReply reply;
    reply.text = text;
    reply.model = model_;
    reply.usage.input_tokens = 100;
    reply.usage.output_tokens = 10;
    answers.emplace_back(std::move(reply));
  }
  void will_fail(model::ChatErrorKind kind) {
    answers.emplace_back(std::unexpected(model::ChatError{kind, "scripted failure"}));
  }

  std::deque<model::ChatResult> answers;
  std::vector<model::ChatRequest> asked;

 private:
  std::string model_;
};

}  // namespace kagent::proposer
