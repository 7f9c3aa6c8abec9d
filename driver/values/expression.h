// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "values/error.h"

namespace kagent {

// An integer expression of kernel.json over sizes and tunables, exact in signed 64 bits.
//
// Grammar, lowest precedence first, as in C:  || ; && ; == != ; < <= > >= ; + - ; * / % ; unary - ! ;
// integer literals, names, ( ), and the functions min(a,b,...), max(a,b,...), ceil_div(a,b). "or", "and", "not" are
// accepted for || && !. Comparisons and logic give 0 or 1; && and || do not evaluate the right side needlessly.
// Overflow, division by zero and an unknown name are errors of evaluate(); nothing crashes and nothing wraps.
class Expression {
 public:
  // Value of a name, or nothing if there is none.
  using Lookup = std::function<const std::int64_t*(std::string_view name)>;

  static Result<Expression> parse(std::string_view text);

  Result<std::int64_t> evaluate(const Lookup& lookup) const;
  // The distinct names used, sorted.
  const std::set<std::string>& names() const { return names_; }
  // The text it was parsed from.
  const std::string& text() const { return text_; }
  // The same expression as C++ text (ceil_div, min and max written out over 64-bit operands).
  std::string to_cpp() const;

  struct Node;

 private:
  std::string text_;
  std::set<std::string> names_;
  std::shared_ptr<const Node> root_;
};

}  // namespace kagent
