// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "proposer/model/chat.h"
#include "proposer/model/endpoint.h"

namespace kagent::proposer::model {

// Anthropic's messages, streamed. An answer by schema is had through a tool that the model is made to call; stable
// parts of the prompt are marked for the provider's cache.
class AnthropicModel : public ChatModel {
 public:
  AnthropicModel(const ModelConfig& config, std::shared_ptr<const Secret> key);
  std::string name() const override { return "anthropic " + endpoint_.config.model; }
  ChatResult complete(const ChatRequest& request, const GiveUp& give_up) override;
  std::string preview(const ChatRequest& request) const override;

 private:
  std::string body(const ChatRequest& request, bool with_tool) const;
  ChatResult attempt(const ChatRequest& request, bool with_tool, const GiveUp& give_up) const;

  Endpoint endpoint_;
  std::atomic<bool> tool_ = true;  // until the server refuses it
};

}  // namespace kagent::proposer::model
