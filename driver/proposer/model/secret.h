// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "values/error.h"

namespace kagent::proposer::model {

// A key: it does not copy or print, and its memory is wiped at the end.
class Secret {
 public:
  Secret() = default;  // none
  explicit Secret(std::string_view text);
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret();

  bool empty() const { return size_ == 0; }
  // For the request's header, and nothing else.
  std::string_view reveal() const { return {text_.get(), size_}; }
  // The text with the key taken out wherever it stands. Keys too short to be ones ("none") are left.
  std::string scrub(std::string text) const;

 private:
  void wipe();

  std::unique_ptr<char[]> text_;
  std::size_t size_ = 0;
};

// Overwrites a text that held a key.
void wipe(std::string& text);

// Where a key comes from, as configured: "env:NAME" or "file:PATH" (with ~/ for the home folder).
bool is_key_source(std::string_view text);
// The key; an empty source gives none. A file has to belong to this user (or root), be a plain file, and be readable by
// nobody else. No error ever shows what was read.
Result<Secret> read_key(const std::string& source,
                        const std::function<std::optional<std::string>(const std::string&)>& environment);

}  // namespace kagent::proposer::model
