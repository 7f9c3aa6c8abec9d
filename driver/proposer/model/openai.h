// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "proposer/model/chat.h"
#include "proposer/model/endpoint.h"

namespace kagent::proposer::model {

// Chat completions as OpenAI defined them and llama.cpp's server, vLLM, Ollama and hosted services offer them. What a
// server does not take (streaming, answers by schema, a parameter) it says by a 400 or 422 that names it: then the
// request goes out again without, and so do all later ones.
class OpenAiModel : public ChatModel {
 public:
  OpenAiModel(const ModelConfig& config, std::shared_ptr<const Secret> key);
  std::string name() const override { return "openai " + endpoint_.config.model; }
  ChatResult complete(const ChatRequest& request, const GiveUp& give_up) override;
  std::string preview(const ChatRequest& request) const override;

 private:
  // What requests make use of.
  struct Features {
    bool schema = true, stream = true, stream_options = true, temperature = true, seed = true;
    bool max_completion_tokens = false;  // instead of max_tokens
    bool token_limit_switched = false;   // once is enough
  };

  std::string body(const ChatRequest& request, const Features& features) const;
  ChatResult attempt(const ChatRequest& request, const Features& features, const GiveUp& give_up) const;
  // Takes out of `features` what the server's words refuse; false if they name nothing that was asked for.
  bool give_way(const ChatRequest& request, const std::string& words, Features& features) const;

  Endpoint endpoint_;
  mutable std::mutex mutex_;
  Features features_;
};

}  // namespace kagent::proposer::model
