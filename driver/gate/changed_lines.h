// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kagent::gate {

// A step of an edit script from one list of lines to another.
struct LineStep {
  enum class Kind { same, removed, added } kind = Kind::same;
  std::size_t line = 0;  // index into the old lines (removed) or the new ones
};

// Lines of code as they are compared: the words of each, comments and layout left out, lines without words dropped.
std::vector<std::string> code_lines(const std::string& source);

// The shortest script (Myers 1986). Texts with little in common become one block removed and one added.
std::vector<LineStep> compare_lines(const std::vector<std::string>& before, const std::vector<std::string>& after);

}  // namespace kagent::gate
