// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "proposer/model/chat.h"
#include "proposer/prompt.h"
#include "proposer/writing_proposer.h"

namespace kagent::proposer {

// What a model has been told and has answered, and the asking for more.
class Conversation {
 public:
  Conversation(model::ChatModel& model, const WritingOptions& options, WritingRecord& record)
      : model_(model), options_(options), record_(record) {}

  void begin(const Prompt& prompt);
  void say(std::string text);
  // Asks with everything said so far; the answer is kept. Its usage is added up in `usage`.
  std::expected<model::ChatReply, model::ChatError> ask(Usage& usage);

  bool empty() const { return messages_.empty(); }
  int exchanges() const { return exchanges_; }

  static model::ChatRequest request(std::vector<model::ChatMessage> messages, const WritingOptions& options);
  static std::vector<model::ChatMessage> messages(const Prompt& prompt);

 private:
  model::ChatModel& model_;
  const WritingOptions& options_;
  WritingRecord& record_;
  std::vector<model::ChatMessage> messages_;
  int exchanges_ = 0;
};

}  // namespace kagent::proposer
