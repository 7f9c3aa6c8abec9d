// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/sse.h"

namespace kagent::proposer::model {

void SseReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (after_return_ && bytes.front() == '\n') {
      after_return_ = false;
      bytes.remove_prefix(1);
      continue;
    }
    after_return_ = false;
    const auto end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (end == std::string_view::npos) return;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    line();
  }
}

void SseReader::finish() {
  if (!line_.empty()) line();
  dispatch();
}

void SseReader::line() {
  std::string_view text = line_;
  if (first_line_ && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  first_line_ = false;
  if (text.empty()) {
    dispatch();
  } else {
    const auto colon = text.find(':');
    const std::string_view field = text.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "event") event_ = value;
    if (field == "data") {
      if (has_data_) data_ += '\n';
      data_ += value;
      has_data_ = true;
    }
  }
  line_.clear();
}

void SseReader::dispatch() {
  if (has_data_) on_event_(event_.empty() ? "message" : std::string_view(event_), data_);
  event_.clear();
  data_.clear();
  has_data_ = false;
}

}  // namespace kagent::proposer::model
