// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "values/error.h"

namespace kagent {

class CompiledExpression;

// An integer expression of kernel.json over sizes and tunables, exact in signed 64 bits.
//
// Grammar, lowest precedence first, as in C:  || ; && ; == != ; < <= > >= ; + - ; * / % ; unary - ! ;
// decimal literals, names, ( ), and the functions min(a,b,...), max(a,b,...), ceil_div(a,b). "or", "and", "not" are
// accepted for || && !. Comparisons and logic give 0 or 1; && and || do not evaluate the right side needlessly.
// / and % truncate towards zero, ceil_div rounds up. A chain such as 1 <= n <= 4 means something else in C than it
// seems to say and is refused. Overflow, division by zero and an unknown name are errors of evaluate(); nothing crashes
// or wraps.
class Expression {
 public:
  // Value of a name, or nothing if there is none.
  using Lookup = std::function<const std::int64_t*(std::string_view name)>;

  // The error says at which character (counted from 1) the text is wrong, and what to write instead.
  static Result<Expression> parse(std::string_view text);

  Result<std::int64_t> evaluate(const Lookup& lookup) const;
  // For evaluating many times: names[i] takes its value from slot i. An error if a name is not among them.
  Result<CompiledExpression> bind(std::span<const std::string> names) const;
  // The distinct names used, sorted.
  const std::set<std::string>& names() const { return names_; }
  // The text it was parsed from.
  const std::string& text() const { return text_; }
  // The same expression as C++ text over std::int64_t, without the checks; needs <algorithm> and <cstdint>.
  std::string to_cpp() const;

  struct Program;

 private:
  std::string text_;
  std::set<std::string> names_;
  std::shared_ptr<const Program> program_;
};

// A closed range of values, low <= high.
struct ValueRange {
  std::int64_t low = 0, high = 0;
};

// An expression whose names are bound to slots: evaluates in nanoseconds, and from several threads at once.
class CompiledExpression {
 public:
  // values[i] is the value of the i-th bound name.
  Result<std::int64_t> evaluate(std::span<const std::int64_t> values) const;
  // Whether it evaluates without an error and is not 0: what a constraint asks.
  bool holds(std::span<const std::int64_t> values) const;
  // False only if it holds for no values in these ranges (interval arithmetic: true may be wrong, false never is). So a
  // search can leave a whole branch out before every name has its value.
  bool may_hold(std::span<const ValueRange> ranges) const;

 private:
  friend class Expression;
  std::shared_ptr<const Expression::Program> program_;
  std::vector<std::int32_t> slots_;  // the program's name -> index into the values
  std::string text_;
};

}  // namespace kagent
