// SPDX-License-Identifier: Apache-2.0
#include "proposer/conversation.h"

#include <utility>

#include "proposer/answer.h"

namespace kagent::proposer {

namespace {

// A reply may be as long as its provider's cap; what is sent back to it in the same conversation is not.
constexpr std::size_t kMostEchoed = 32 * 1024;

std::string echoed(const std::string& text) {
  if (text.size() <= kMostEchoed) return text.empty() ? "(empty)" : text;
  std::size_t end = kMostEchoed;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "\n(cut)";
}

}  // namespace

std::vector<model::ChatMessage> Conversation::messages(const Prompt& prompt) {
  return {{model::Author::system, prompt.system, true}, {model::Author::user, prompt.text(), true}};
}

model::ChatRequest Conversation::request(std::vector<model::ChatMessage> messages, const WritingOptions& options) {
  model::ChatRequest request;
  request.messages = std::move(messages);
  if (options.structured) request.answer_schema = strict_answer_schema();
  request.max_output_tokens = options.max_output_tokens;
  return request;
}

void Conversation::begin(const Prompt& prompt) {
  messages_ = messages(prompt);
  exchanges_ = 0;
}

void Conversation::say(std::string text) {
  messages_.push_back({model::Author::user, std::move(text), false});
}

std::expected<model::ChatReply, model::ChatError> Conversation::ask(Usage& usage) {
  const model::GiveUp give_up = options_.give_up ? options_.give_up : [] { return false; };
  auto reply = model_.complete(request(messages_, options_), give_up);
  if (!reply) {
    usage += reply.error().usage;
    return reply;
  }
  usage += reply->usage;
  ++exchanges_;
  ++record_.exchanges;
  messages_.push_back({model::Author::assistant, echoed(reply->text), false});
  return reply;
}

}  // namespace kagent::proposer
