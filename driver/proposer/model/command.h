// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proposer/model/chat.h"
#include "proposer/model/config.h"
#include "proposer/model/secret.h"

namespace kagent::proposer::model {

// The prompt as a program reads it: one message as it is, several each under a line "[system]", "[user]".
std::string prompt_text(const ChatRequest& request);

// Any program that reads the prompt on standard input and writes the answer on standard output. It gets the variables
// that are named for it and no others, and is killed with its process group at a limit and at its end. It runs outside
// of any sandbox, for it may need network and its own files: it is a program of the user's choice.
class CommandModel : public ChatModel {
 public:
  CommandModel(ModelConfig config, const Environment& environment);
  std::string name() const override { return "command " + config_.command.front(); }
  ChatResult complete(const ChatRequest& request, const GiveUp& give_up) override;
  std::string preview(const ChatRequest& request) const override;
  // Of its variables, those that are likely keys by their name.
  const std::vector<std::shared_ptr<const Secret>>& keys() const { return keys_; }

 private:
  std::string scrub(std::string text) const;

  ModelConfig config_;
  std::vector<std::string> environment_;
  std::vector<std::shared_ptr<const Secret>> keys_;
};

}  // namespace kagent::proposer::model
