// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proposer/model/chat.h"
#include "proposer/model/endpoint.h"

namespace kagent::proposer::model {

// Puts an answer together, from the events of a stream or from a reply in one piece; what these hold is the protocol's.
class Assembly {
 public:
  explicit Assembly(const Endpoint& endpoint) : endpoint_(endpoint) {}
  virtual ~Assembly() = default;
  Assembly(const Assembly&) = delete;

  // The data of one event.
  virtual void event(std::string_view data) = 0;
  virtual void whole(const std::string& body) = 0;
  // After the last one.
  ChatResult result(const ChatRequest& request);

 protected:
  // The first failure counts.
  void fail(ChatErrorKind kind, const std::string& message);
  // With what the provider says of it in JSON.
  void fail_as_told(std::string_view body);
  void refuse(const std::string& why);

  ChatReply reply_;
  bool ended_ = false;       // the answer is whole
  bool usage_told_ = false;  // by the provider

 private:
  const Endpoint& endpoint_;
  std::optional<ChatError> error_;
  std::optional<std::string> refusal_;
};

// Posts the body and has the reply put together, whether it comes as a stream or not.
ChatResult ask(const Endpoint& endpoint, const std::string& body, Assembly& assembly, const ChatRequest& request,
               const GiveUp& give_up);

}  // namespace kagent::proposer::model
