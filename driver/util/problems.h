// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "values/error.h"

namespace kagent::util {

// What is wrong with a file that is read strictly, collected so that the user sees everything at once.
class Problems {
 public:
  // `pointer` is the JSON pointer of the value ("/cases/0/sizes"); the fix says what to write.
  void add(const std::string& pointer, const std::string& problem, const std::string& fix);
  bool empty() const { return lines_.empty(); }
  // One line each, "<file>: <pointer>: <problem>; <fix>".
  StageError error(const std::filesystem::path& file) const;

 private:
  std::vector<std::string> lines_;
};

// Pointer to a member or an element of what `parent` points to.
std::string child_pointer(const std::string& parent, std::string_view key);
std::string child_pointer(const std::string& parent, std::size_t index);

// "; did you mean 'x'?" style fix: the nearest of the names, or all of them.
std::string suggest(const std::string& name, const std::vector<std::string>& names, const std::string& kind);

}  // namespace kagent::util
