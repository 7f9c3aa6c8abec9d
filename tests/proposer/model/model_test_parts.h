// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "proposer/model/chat.h"
#include "proposer/model/config.h"
#include "proposer/model/secret.h"

namespace kagent::proposer::model {

inline constexpr const char* kTestKey = "sk-test-0123456789abcdef";

inline std::shared_ptr<const Secret> test_key(std::string_view text = kTestKey) {
  return std::make_shared<const Secret>(text);
}

inline ModelConfig test_config(const std::string& url, Api api = Api::openai) {
  ModelConfig config;
  config.name = "fake";
  config.api = api;
  config.base_url = url;
  config.model = "fake-1";
  return config;
}

inline ChatRequest test_request(const std::string& text = "Make it faster.") {
  ChatRequest request;
  request.messages = {{Author::system, "You improve kernels.", true}, {Author::user, text, false}};
  return request;
}

inline bool never() {
  return false;
}

}  // namespace kagent::proposer::model
