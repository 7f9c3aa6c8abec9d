// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "values/expression.h"

namespace kagent {

// Stack instructions that an expression is parsed into. The binary ones pop two values and push one.
enum class Operation : std::uint8_t {
  constant,
  name,  // push
  negate,
  logical_not,  // replace the top
  skip_if_false,
  skip_if_true,  // top becomes 0 or 1 and the code goes on after `operand`, or nothing happens
  add,
  subtract,
  multiply,
  divide,
  remainder,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  min,
  max,
  ceil_div,
};

// The operator as written, for the binary operators (not the functions).
constexpr std::string_view symbol(Operation operation) {
  constexpr std::array<std::string_view, 19> kSymbols{"",  "",  "",   "",  "",   "",   "+",  "-",  "*", "/",
                                                      "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||"};
  const auto index = static_cast<std::size_t>(operation);
  return index < kSymbols.size() ? kSymbols[index] : "";
}

struct Instruction {
  Operation operation = Operation::constant;
  std::uint32_t position = 0;  // of its character in the text, counted from 1
  std::int64_t operand = 0;    // the constant, the index of the name, or the last instruction to skip
};

// Values that may be pending at once; more is refused when parsing, so that evaluation needs no allocation.
inline constexpr std::size_t kMaxStack = 128;

struct Expression::Program {
  std::vector<Instruction> code;
  std::vector<std::string> names;
};

}  // namespace kagent
