// SPDX-License-Identifier: Apache-2.0
// Interval arithmetic over an expression's program. Where a value would overflow or divide by zero there is no value,
// so that a range only has to cover the results that exist.

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "values/expression.h"
#include "values/expression_program.h"

namespace kagent {
namespace {

__extension__ typedef __int128 Wide;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr ValueRange kAny{kLeast, kMost};

ValueRange clamped(Wide low, Wide high) {
  const auto clamp = [](Wide value) {
    return static_cast<std::int64_t>(std::clamp(value, static_cast<Wide>(kLeast), static_cast<Wide>(kMost)));
  };
  return {clamp(low), clamp(high)};
}

bool surely(ValueRange range) {
  return range.low > 0 || range.high < 0;
}
bool possibly(ValueRange range) {
  return range.low != 0 || range.high != 0;
}
ValueRange truth(bool sure, bool possible) {
  return {sure, possible};
}

// Range of f over the four corners: right for functions that are monotone in each argument.
template <class Function>
ValueRange corners(ValueRange a, ValueRange b, const Function& f) {
  const std::array<Wide, 4> results{f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)};
  const auto [low, high] = std::minmax_element(results.begin(), results.end());
  return clamped(*low, *high);
}

ValueRange divided(ValueRange a, ValueRange b, bool up) {
  if (b.low <= 0 && b.high >= 0) return kAny;
  return corners(a, b, [up](Wide x, Wide y) { return x / y + (up && x % y != 0 && (x < 0) == (y < 0)); });
}

// The sign is the dividend's, the size below the divisor's, and not above the dividend's.
ValueRange remainder(ValueRange a, ValueRange b) {
  if (b.low == 0 && b.high == 0) return kAny;
  if (a.low == a.high && b.low == b.high) return clamped(Wide{a.low} % b.low, Wide{a.low} % b.low);
  const Wide size = std::max(b.high < 0 ? -Wide{b.high} : Wide{b.high}, -Wide{b.low}) - 1;
  return clamped(a.low < 0 ? std::max(-size, Wide{a.low}) : 0, a.high > 0 ? std::min(size, Wide{a.high}) : 0);
}

ValueRange equal(ValueRange a, ValueRange b) {
  return truth(a.low == a.high && b.low == b.high && a.low == b.low, a.low <= b.high && b.low <= a.high);
}

ValueRange negated(ValueRange a) {
  return truth(!possibly(a), !surely(a));
}

ValueRange apply(Operation operation, ValueRange a, ValueRange b) {
  switch (operation) {
    case Operation::add:
      return clamped(Wide{a.low} + b.low, Wide{a.high} + b.high);
    case Operation::subtract:
      return clamped(Wide{a.low} - b.high, Wide{a.high} - b.low);
    case Operation::multiply:
      return corners(a, b, [](Wide x, Wide y) { return x * y; });
    case Operation::divide:
      return divided(a, b, false);
    case Operation::ceil_div:
      return divided(a, b, true);
    case Operation::remainder:
      return remainder(a, b);
    case Operation::less:
      return truth(a.high < b.low, a.low < b.high);
    case Operation::less_equal:
      return truth(a.high <= b.low, a.low <= b.high);
    case Operation::greater:
      return truth(a.low > b.high, a.high > b.low);
    case Operation::greater_equal:
      return truth(a.low >= b.high, a.high >= b.low);
    case Operation::equal:
      return equal(a, b);
    case Operation::not_equal:
      return negated(equal(a, b));
    case Operation::logical_and:
      return truth(surely(a) && surely(b), possibly(a) && possibly(b));
    case Operation::logical_or:
      return truth(surely(a) || surely(b), possibly(a) || possibly(b));
    case Operation::min:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Operation::max:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
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

}  // namespace

bool CompiledExpression::may_hold(std::span<const ValueRange> ranges) const {
  std::array<ValueRange, kMaxStack> stack;
  std::size_t top = 0;
  for (std::size_t at = 0; at < program_->code.size(); ++at) {
    const Instruction& instruction = program_->code[at];
    switch (instruction.operation) {
      case Operation::constant:
        stack[top++] = {instruction.operand, instruction.operand};
        break;
      case Operation::name: {
        const auto slot = static_cast<std::size_t>(slots_[static_cast<std::size_t>(instruction.operand)]);
        stack[top++] = slot < ranges.size() ? ranges[slot] : kAny;
        break;
      }
      case Operation::negate:
        stack[top - 1] = clamped(-Wide{stack[top - 1].high}, -Wide{stack[top - 1].low});
        break;
      case Operation::logical_not:
        stack[top - 1] = negated(stack[top - 1]);
        break;
      // Not sure to be skipped: the right side is looked at too, and the operator after it covers both cases.
      case Operation::skip_if_false:
        if (possibly(stack[top - 1])) break;
        stack[top - 1] = {0, 0};
        at = static_cast<std::size_t>(instruction.operand);
        break;
      case Operation::skip_if_true:
        if (!surely(stack[top - 1])) break;
        stack[top - 1] = {1, 1};
        at = static_cast<std::size_t>(instruction.operand);
        break;
      default:
        --top;
        stack[top - 1] = apply(instruction.operation, stack[top - 1], stack[top]);
    }
  }
  return possibly(stack[0]);
}

}  // namespace kagent
