// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "values/expression.h"

namespace kagent {
namespace {

const std::vector<std::string> kNames{"a", "b", "c"};

CompiledExpression compiled(const std::string& text) {
  return Expression::parse(text).value().bind(kNames).value();
}

bool may_hold(const std::string& text, ValueRange a, ValueRange b = {}, ValueRange c = {}) {
  return compiled(text).may_hold(std::vector<ValueRange>{a, b, c});
}

TEST(MayHold, RulesOutWhatNoValueOfTheRangesMeets) {
  EXPECT_FALSE(may_hold("a + b + c <= 3", {2, 9}, {2, 9}, {0, 9}));
  EXPECT_TRUE(may_hold("a + b + c <= 3", {2, 9}, {1, 9}, {0, 9}));
  EXPECT_FALSE(may_hold("a * b == 64", {1, 4}, {1, 8}));
  EXPECT_TRUE(may_hold("a * b == 64", {1, 8}, {1, 8}));
  EXPECT_FALSE(may_hold("a == 0 && b < c", {0, 1}, {5, 9}, {1, 5}));
  EXPECT_FALSE(may_hold("a > 2 || !(b > c)", {0, 2}, {5, 9}, {1, 4}));
  EXPECT_FALSE(may_hold("min(a, b) > 4", {0, 4}, {0, 100}));
  EXPECT_FALSE(may_hold("ceil_div(a, b) >= 6", {1, 10}, {2, 4}));
  EXPECT_FALSE(may_hold("a % 8 == 3", {16, 16}));
  EXPECT_FALSE(may_hold("a % 8 > 7", {0, 1000}));
}

// Every operator, over all small ranges: whatever holds for some values must be possible for every range around them.
TEST(MayHold, NeverRulesOutValuesThatHold) {
  for (const char* text :
       {"a + b > 1", "a - b == 2", "a * b < -3", "a / b == 1", "a % b == -1", "ceil_div(a, b) == 2", "min(a, -b) == 2",
        "max(a, b) <= -1", "a != b", "a < b && b < 2", "a >= b || b == 1", "!(a == b)", "a != 0 && 4 % a == b",
        "a == 0 || 4 / a > b", "-a > b", "(a < b) + (b < 2) == 2", "!a && b", "a <= b == 0"}) {
    const CompiledExpression expression = compiled(text);
    for (std::int64_t a_low = -3; a_low <= 3; ++a_low)
      for (std::int64_t a_high = a_low; a_high <= 3; ++a_high)
        for (std::int64_t b_low = -3; b_low <= 3; ++b_low)
          for (std::int64_t b_high = b_low; b_high <= 3; ++b_high) {
            bool holds = false;
            for (std::int64_t a = a_low; a <= a_high; ++a)
              for (std::int64_t b = b_low; b <= b_high; ++b)
                holds |= expression.holds(std::vector<std::int64_t>{a, b, 0});
            const bool possible = expression.may_hold(std::vector<ValueRange>{{a_low, a_high}, {b_low, b_high}, {}});
            ASSERT_TRUE(possible || !holds)
                << text << " a " << a_low << ".." << a_high << " b " << b_low << ".." << b_high;
          }
  }
}

TEST(MayHold, IsExactForSingleValuesOfArithmetic) {
  for (const char* text :
       {"a * b - 2 == 4", "a % b == 1", "ceil_div(a, b) > 1", "a < b || a == 3", "a != b && a / b == 0"}) {
    const CompiledExpression expression = compiled(text);
    for (std::int64_t a = -4; a <= 4; ++a)
      for (std::int64_t b = -4; b <= 4; ++b)
        if (b != 0) {
          EXPECT_EQ(expression.may_hold(std::vector<ValueRange>{{a, a}, {b, b}, {}}),
                    expression.holds(std::vector<std::int64_t>{a, b, 0}))
              << text << " a=" << a << " b=" << b;
        }
  }
}

TEST(MayHold, BearsTheEndsOfTheRangeOfIntegers) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const ValueRange any{kLeast, kMost};
  for (const char* text :
       {"a + b > c", "a - b < c", "a * b == c", "a / b == c", "a % b == c", "ceil_div(a, b) == c", "-a == c"})
    EXPECT_TRUE(may_hold(text, any, any, any)) << text;
  EXPECT_TRUE(may_hold("a + b == 9223372036854775807", {kMost - 1, kMost}, {0, 9}));
  EXPECT_FALSE(may_hold("a % b > 0", {kLeast, -1}, any));
}

}  // namespace
}  // namespace kagent
