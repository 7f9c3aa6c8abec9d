// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/chat.h"

#include <array>

namespace kagent::proposer::model {
namespace {

constexpr std::array kErrorKinds = {
    ChatErrorKind::rate_limited,
    ChatErrorKind::overloaded,
    ChatErrorKind::unauthorized,
    ChatErrorKind::bad_request,
    ChatErrorKind::context_overflow,
    ChatErrorKind::network,
    ChatErrorKind::tls,
    ChatErrorKind::timed_out,
    ChatErrorKind::malformed,
    ChatErrorKind::too_large,
    ChatErrorKind::refused,
    ChatErrorKind::budget,
    ChatErrorKind::command_failed,
    ChatErrorKind::replay_mismatch,
    ChatErrorKind::cancelled,
};

}  // namespace

std::string_view name(ChatErrorKind kind) {
  switch (kind) {
    case ChatErrorKind::rate_limited:
      return "rate_limited";
    case ChatErrorKind::overloaded:
      return "overloaded";
    case ChatErrorKind::unauthorized:
      return "unauthorized";
    case ChatErrorKind::bad_request:
      return "bad_request";
    case ChatErrorKind::context_overflow:
      return "context_overflow";
    case ChatErrorKind::network:
      return "network";
    case ChatErrorKind::tls:
      return "tls";
    case ChatErrorKind::timed_out:
      return "timed_out";
    case ChatErrorKind::malformed:
      return "malformed";
    case ChatErrorKind::too_large:
      return "too_large";
    case ChatErrorKind::refused:
      return "refused";
    case ChatErrorKind::budget:
      return "budget";
    case ChatErrorKind::command_failed:
      return "command_failed";
    case ChatErrorKind::replay_mismatch:
      return "replay_mismatch";
    case ChatErrorKind::cancelled:
      return "cancelled";
  }
  return "";
}

std::optional<ChatErrorKind> parse_chat_error_kind(std::string_view text) {
  for (const ChatErrorKind kind : kErrorKinds)
    if (name(kind) == text) return kind;
  return std::nullopt;
}

std::string_view name(Author author) {
  switch (author) {
    case Author::system:
      return "system";
    case Author::user:
      return "user";
    case Author::assistant:
      return "assistant";
  }
  return "";
}

std::string_view name(Finish finish) {
  switch (finish) {
    case Finish::stop:
      return "stop";
    case Finish::length:
      return "length";
  }
  return "";
}

}  // namespace kagent::proposer::model
