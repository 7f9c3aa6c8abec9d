// SPDX-License-Identifier: Apache-2.0
#include "values/expression.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "values/expression_program.h"

namespace kagent {
namespace {

using Program = Expression::Program;

enum class Fault { none, overflow, division_by_zero, unknown_name };

struct Outcome64 {
  std::int64_t value = 0;
  Fault fault = Fault::none;
  std::size_t instruction = 0;
};

Fault divide(Operation operation, std::int64_t a, std::int64_t b, std::int64_t& result) {
  if (b == 0) return Fault::division_by_zero;
  if (a == std::numeric_limits<std::int64_t>::min() && b == -1) return Fault::overflow;
  const std::int64_t remainder = a % b;
  if (operation == Operation::remainder) {
    result = remainder;
  } else {
    result = a / b;
    if (operation == Operation::ceil_div && remainder != 0 && (a < 0) == (b < 0)) ++result;
  }
  return Fault::none;
}

Fault apply(Operation operation, std::int64_t a, std::int64_t b, std::int64_t& result) {
  switch (operation) {
    case Operation::add:
      return __builtin_add_overflow(a, b, &result) ? Fault::overflow : Fault::none;
    case Operation::subtract:
      return __builtin_sub_overflow(a, b, &result) ? Fault::overflow : Fault::none;
    case Operation::multiply:
      return __builtin_mul_overflow(a, b, &result) ? Fault::overflow : Fault::none;
    case Operation::divide:
    case Operation::remainder:
    case Operation::ceil_div:
      return divide(operation, a, b, result);
    case Operation::less:
      result = a < b;
      return Fault::none;
    case Operation::less_equal:
      result = a <= b;
      return Fault::none;
    case Operation::greater:
      result = a > b;
      return Fault::none;
    case Operation::greater_equal:
      result = a >= b;
      return Fault::none;
    case Operation::equal:
      result = a == b;
      return Fault::none;
    case Operation::not_equal:
      result = a != b;
      return Fault::none;
    case Operation::logical_and:
      result = a != 0 && b != 0;
      return Fault::none;
    case Operation::logical_or:
      result = a != 0 || b != 0;
      return Fault::none;
    case Operation::min:
      result = std::min(a, b);
      return Fault::none;
    case Operation::max:
      result = std::max(a, b);
      return Fault::none;
    case Operation::constant:
    case Operation::name:
    case Operation::negate:
    case Operation::logical_not:
    case Operation::skip_if_false:
    case Operation::skip_if_true:
      break;
  }
  std::unreachable();
}

// `value_of(name index)` gives a pointer to the value, or null.
template <class ValueOf>
Outcome64 execute(const Program& program, const ValueOf& value_of) {
  std::array<std::int64_t, kMaxStack> stack;
  std::size_t top = 0;  // number of values on the stack
  for (std::size_t at = 0; at < program.code.size(); ++at) {
    const Instruction& instruction = program.code[at];
    switch (instruction.operation) {
      case Operation::constant:
        stack[top++] = instruction.operand;
        break;
      case Operation::name: {
        const std::int64_t* value = value_of(static_cast<std::size_t>(instruction.operand));
        if (value == nullptr) return {0, Fault::unknown_name, at};
        stack[top++] = *value;
        break;
      }
      case Operation::negate:
        if (__builtin_sub_overflow(std::int64_t{0}, stack[top - 1], &stack[top - 1])) return {0, Fault::overflow, at};
        break;
      case Operation::logical_not:
        stack[top - 1] = stack[top - 1] == 0;
        break;
      case Operation::skip_if_false:
      case Operation::skip_if_true: {
        const bool truth = stack[top - 1] != 0;
        if (truth == (instruction.operation == Operation::skip_if_true)) {
          stack[top - 1] = truth;
          at = static_cast<std::size_t>(instruction.operand);
        }
        break;
      }
      default: {
        --top;
        std::int64_t result = 0;
        const Fault fault = apply(instruction.operation, stack[top - 1], stack[top], result);
        if (fault != Fault::none) return {0, fault, at};
        stack[top - 1] = result;
      }
    }
  }
  return {stack[0], Fault::none, 0};
}

template <class ValueOf>
std::unexpected<StageError> describe(const Outcome64& outcome, const Program& program, const std::string& text,
                                     const ValueOf& value_of) {
  const Instruction& instruction = program.code[outcome.instruction];
  std::string message = "'" + text + "': ";
  if (outcome.fault == Fault::unknown_name) {
    const std::string& name = program.names[static_cast<std::size_t>(instruction.operand)];
    return failure(message + "there is no '" + name + "'", "use a declared name, or a number");
  }
  const bool overflow = outcome.fault == Fault::overflow;
  message += overflow ? "the result does not fit 64 bits" : "division by zero";
  message += " at character " + std::to_string(instruction.position);
  std::string values;
  for (std::size_t i = 0; i < program.names.size(); ++i)
    if (const std::int64_t* value = value_of(i); value != nullptr)
      values += (values.empty() ? " with " : ", ") + program.names[i] + " = " + std::to_string(*value);
  return failure(message + values, overflow ? "use smaller values" : "guard it, as in 'n != 0 && m % n == 0'");
}

template <class ValueOf>
Result<std::int64_t> evaluate_program(const Program& program, const std::string& text, const ValueOf& value_of) {
  const Outcome64 outcome = execute(program, value_of);
  if (outcome.fault == Fault::none) return outcome.value;
  return describe(outcome, program, text, value_of);
}

std::string call(const std::string& function, const std::string& a, const std::string& b) {
  return function + "(" + a + ", " + b + ")";
}

constexpr const char* kCeilDiv =
    "[](std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }";

}  // namespace

Result<std::int64_t> Expression::evaluate(const Lookup& lookup) const {
  return evaluate_program(*program_, text_, [&](std::size_t index) { return lookup(program_->names[index]); });
}

Result<CompiledExpression> Expression::bind(std::span<const std::string> names) const {
  CompiledExpression compiled;
  compiled.program_ = program_;
  compiled.text_ = text_;
  for (const std::string& name : program_->names) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      return failure("'" + text_ + "': there is no '" + name + "'", "use a declared name, or a number");
    compiled.slots_.push_back(static_cast<std::int32_t>(found - names.begin()));
  }
  return compiled;
}

Result<std::int64_t> CompiledExpression::evaluate(std::span<const std::int64_t> values) const {
  return evaluate_program(*program_, text_, [&](std::size_t index) -> const std::int64_t* {
    const auto slot = static_cast<std::size_t>(slots_[index]);
    return slot < values.size() ? &values[slot] : nullptr;
  });
}

bool CompiledExpression::holds(std::span<const std::int64_t> values) const {
  const Outcome64 outcome = execute(*program_, [&](std::size_t index) -> const std::int64_t* {
    const auto slot = static_cast<std::size_t>(slots_[index]);
    return slot < values.size() ? &values[slot] : nullptr;
  });
  return outcome.fault == Fault::none && outcome.value != 0;
}

std::string Expression::to_cpp() const {
  std::vector<std::string> stack;
  for (const Instruction& instruction : program_->code) {
    switch (instruction.operation) {
      case Operation::constant:
        stack.push_back("std::int64_t{" + std::to_string(instruction.operand) + "}");
        continue;
      case Operation::name:
        stack.push_back("static_cast<std::int64_t>(" + program_->names[static_cast<std::size_t>(instruction.operand)] +
                        ")");
        continue;
      case Operation::negate:
        stack.back() = "(-" + stack.back() + ")";
        continue;
      case Operation::logical_not:
        stack.back() = "std::int64_t{!" + stack.back() + "}";
        continue;
      case Operation::skip_if_false:
      case Operation::skip_if_true:
        continue;  // C++'s own && and || do this
      default:
        break;
    }
    const std::string right = std::move(stack.back());
    stack.pop_back();
    std::string& left = stack.back();
    switch (instruction.operation) {
      case Operation::min:
        left = call("std::min<std::int64_t>", left, right);
        break;
      case Operation::max:
        left = call("std::max<std::int64_t>", left, right);
        break;
      case Operation::ceil_div:
        left = call(kCeilDiv, left, right);
        break;
      default: {
        const bool truth = instruction.operation >= Operation::less && instruction.operation <= Operation::logical_or;
        left = (truth ? "std::int64_t{" : "(") + left + " " + std::string(symbol(instruction.operation)) + " " + right +
               (truth ? "}" : ")");
      }
    }
  }
  return stack.back();
}

}  // namespace kagent
