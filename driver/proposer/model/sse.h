// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace kagent::proposer::model {

// Reads a stream of server-sent events (WHATWG HTML, 9.2.6), whatever pieces it arrives in. Comments, ids and retry
// times are left out.
class SseReader {
 public:
  // `event` is "message" where the server names none. The views hold during the call.
  using OnEvent = std::function<void(std::string_view event, std::string_view data)>;

  explicit SseReader(OnEvent on_event) : on_event_(std::move(on_event)) {}
  void feed(std::string_view bytes);
  // The stream has ended. An event without its empty line counts: servers forget the last one.
  void finish();

 private:
  void line();
  void dispatch();

  OnEvent on_event_;
  std::string line_, event_, data_;
  bool has_data_ = false, after_return_ = false, first_line_ = true;
};

}  // namespace kagent::proposer::model
