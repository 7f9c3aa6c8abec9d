// SPDX-License-Identifier: Apache-2.0
#include "values/expression.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kagent {
namespace {

using ::testing::HasSubstr;
using Values = std::map<std::string, std::int64_t, std::less<>>;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

Result<std::int64_t> evaluate(const std::string& text, const Values& values = {}) {
  const Result<Expression> expression = Expression::parse(text);
  if (!expression) return std::unexpected(expression.error());
  return expression->evaluate([&](std::string_view name) -> const std::int64_t* {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
  });
}

std::string parse_error(const std::string& text) {
  const Result<Expression> expression = Expression::parse(text);
  return expression ? "accepted" : expression.error().message + "; " + expression.error().fix;
}

std::string evaluation_error(const std::string& text, const Values& values = {}) {
  EXPECT_TRUE(Expression::parse(text)) << text;
  const Result<std::int64_t> value = evaluate(text, values);
  return value ? "accepted" : value.error().message;
}

TEST(Expression, PrecedenceAndAssociationAreThoseOfC) {
  EXPECT_EQ(evaluate("1 + 2 * 3 - 4 / 2"), 5);
  EXPECT_EQ(evaluate("20 / 2 / 5"), 2);
  EXPECT_EQ(evaluate("10 - 3 - 2"), 5);
  EXPECT_EQ(evaluate("2 * (3 + 4) % 5"), 4);
  EXPECT_EQ(evaluate("1 + 1 == 2 && 3 > 2 + 0"), 1);
  EXPECT_EQ(evaluate("1 || 0 && 0"), 1);
  EXPECT_EQ(evaluate("1 < 2 == 2 < 3"), 1);
  EXPECT_EQ(evaluate("-2 * -3"), 6);
  EXPECT_EQ(evaluate("!0 + !5"), 1);
  EXPECT_EQ(evaluate("- - 4"), 4);
}

TEST(Expression, WordsForLogicMeanTheSameAsTheSymbols) {
  EXPECT_EQ(evaluate("1 and not 0 or 0"), 1);
  EXPECT_EQ(evaluate("order + android", {{"order", 2}, {"android", 3}}), 5);
}

TEST(Expression, FunctionsTakeTheirArguments) {
  EXPECT_EQ(evaluate("min(4, 2, 3)"), 2);
  EXPECT_EQ(evaluate("max(n, 1)", {{"n", -7}}), 1);
  EXPECT_EQ(evaluate("ceil_div(7, 2)"), 4);
  EXPECT_EQ(evaluate("ceil_div(-7, 2)"), -3);
  EXPECT_EQ(evaluate("ceil_div(-7, -2)"), 4);
  EXPECT_EQ(evaluate("ceil_div(8, 2)"), 4);
}

TEST(Expression, DivisionTruncatesTowardsZero) {
  EXPECT_EQ(evaluate("-7 / 2"), -3);
  EXPECT_EQ(evaluate("-7 % 2"), -1);
}

TEST(Expression, SixtyFourBitValuesAreExact) {
  EXPECT_EQ(evaluate("9007199254740993 + 0"), 9007199254740993);
  EXPECT_EQ(evaluate("-9223372036854775807 - 1"), kMin);
}

TEST(Expression, OverflowIsAnErrorInEveryOperation) {
  const Values values{{"max", 0}, {"big", kMax}, {"low", kMin}};
  for (const char* text : {"big + 1", "low - 1", "big * 2", "-low", "low / -1", "low % -1", "ceil_div(low, -1)"})
    EXPECT_THAT(evaluation_error(text, values), HasSubstr("does not fit 64 bits")) << text;
}

TEST(Expression, DivisionByZeroIsAnErrorThatNamesTheValues) {
  for (const char* text : {"7 / n", "7 % n", "ceil_div(7, n)"})
    EXPECT_THAT(evaluation_error(text, {{"n", 0}}), HasSubstr("division by zero")) << text;
  EXPECT_THAT(evaluation_error("7 / n", {{"n", 0}}), HasSubstr("at character 3 with n = 0"));
}

TEST(Expression, LogicSkipsItsRightSideWhenTheLeftDecides) {
  EXPECT_EQ(evaluate("n != 0 && 8 % n == 0", {{"n", 0}}), 0);
  EXPECT_EQ(evaluate("n == 0 || 8 % n == 0", {{"n", 0}}), 1);
  EXPECT_EQ(evaluate("5 || 1 / 0"), 1);
  EXPECT_EQ(evaluate("(0 && 1 / 0) + 2"), 2);
  EXPECT_EQ(evaluate("2 && 3"), 1);
}

TEST(Expression, AnUnknownNameIsAnErrorWhenItIsNeeded) {
  EXPECT_THAT(evaluation_error("rows * colls", {{"rows", 1}}), HasSubstr("there is no 'colls'"));
}

TEST(Expression, NamesAreListedOnceAndSorted) {
  EXPECT_THAT(Expression::parse("b * a + b")->names(), ::testing::ElementsAre("a", "b"));
}

TEST(Expression, AnAssignmentIsRefusedWithTheComparisonAsFix) {
  EXPECT_THAT(parse_error("BLOCK = 128"), HasSubstr("unexpected '=' at character 7"));
  EXPECT_THAT(parse_error("BLOCK = 128"), HasSubstr("use =="));
}

TEST(Expression, OperatorsOfOtherLanguagesAreNamedWithWhatToWriteInstead) {
  EXPECT_THAT(parse_error("n^2"), HasSubstr("n*n"));
  EXPECT_THAT(parse_error("n**2"), HasSubstr("n*n"));
  EXPECT_THAT(parse_error("a ? b : c"), HasSubstr("?: is not supported"));
  EXPECT_THAT(parse_error("a & b"), HasSubstr("use &&"));
  EXPECT_THAT(parse_error("a | b"), HasSubstr("use ||"));
  EXPECT_THAT(parse_error("a // b"), HasSubstr("use /"));
  EXPECT_THAT(parse_error("1 << n"), HasSubstr("shifts are not supported"));
  EXPECT_THAT(parse_error("1 <= n <= 4"), HasSubstr("a < b && b < c"));
  EXPECT_THAT(parse_error("not a == b"), HasSubstr("not (a == b)"));
  EXPECT_THAT(parse_error("a.b"), HasSubstr("integers only"));
  EXPECT_THAT(parse_error("log2(n)"), HasSubstr("the functions are min, max and ceil_div"));
}

TEST(Expression, MalformedTextIsRefusedWithItsPosition) {
  EXPECT_THAT(parse_error(""), HasSubstr("ends too early at character 1"));
  EXPECT_THAT(parse_error("  "), HasSubstr("ends too early"));
  EXPECT_THAT(parse_error("1 +"), HasSubstr("ends too early at character 4"));
  EXPECT_THAT(parse_error("(1"), HasSubstr("ends too early"));
  EXPECT_THAT(parse_error("1)"), HasSubstr("unexpected ')' at character 2"));
  EXPECT_THAT(parse_error("1 2"), HasSubstr("unexpected '2' at character 3"));
  EXPECT_THAT(parse_error("|| 1"), HasSubstr("unexpected '||' at character 1"));
  EXPECT_THAT(parse_error("and 1"), HasSubstr("without a left side"));
  EXPECT_THAT(parse_error("min"), HasSubstr("is a function"));
  EXPECT_THAT(parse_error("min(1)"), HasSubstr("min with 1 argument"));
  EXPECT_THAT(parse_error("ceil_div(1,2,3)"), HasSubstr("ceil_div with 3 arguments"));
  EXPECT_THAT(parse_error("max(1,)"), HasSubstr("unexpected ')'"));
  EXPECT_THAT(parse_error("1.5 * n"), HasSubstr("not a decimal integer"));
  EXPECT_THAT(parse_error("0x10"), HasSubstr("not a decimal integer"));
  EXPECT_THAT(parse_error("010"), HasSubstr("not a decimal integer"));
  EXPECT_THAT(parse_error("9223372036854775808"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(parse_error("n\xC3\xA4"), HasSubstr("strange character"));
  EXPECT_THAT(parse_error(std::string("1\0+1", 4)), HasSubstr("strange character"));
}

TEST(Expression, HostileNestingIsAnErrorAndNotACrash) {
  EXPECT_THAT(parse_error(std::string(5'000, '(') + "1"), HasSubstr("nested more than"));
  EXPECT_THAT(parse_error(std::string(5'000, '-') + "1"), HasSubstr("nested more than"));
  EXPECT_THAT(parse_error(std::string(5'000, '!') + "1"), HasSubstr("nested more than"));
  EXPECT_THAT(parse_error(std::string(100'000, '(')), HasSubstr("too long"));
  std::string nots, mins;
  for (int i = 0; i < 1'000; ++i) nots += "not ", mins += "min(1,";
  EXPECT_THAT(parse_error(nots + "1"), HasSubstr("nested more than"));
  EXPECT_THAT(parse_error(mins), HasSubstr("nested more than"));
}

TEST(Expression, PendingValuesAreBoundedToo) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "1 || 1 && 1 == 1 < 1 + 1 * (";
  EXPECT_THAT(parse_error(text + "1" + std::string(60, ')')), HasSubstr("too many values are pending"));
}

TEST(Expression, LongChainsWithinTheLimitEvaluate) {
  std::string text = "1";
  for (int i = 0; i < 2'000; ++i) text += "+1";
  EXPECT_EQ(evaluate(text), 2'001);
  EXPECT_FALSE(Expression::parse(text)->to_cpp().empty());
}

TEST(Expression, BoundSlotsGiveTheSameValues) {
  const Expression expression = *Expression::parse("A * B <= 64 && C % A == 0");
  const std::vector<std::string> names{"C", "B", "unused", "A"};
  const CompiledExpression bound = *expression.bind(names);
  for (std::int64_t a = 0; a < 12; ++a)
    for (std::int64_t b : {1, 8, 60}) {
      const std::vector<std::int64_t> values{24, b, 0, a};
      const auto by_name = evaluate(expression.text(), {{"A", a}, {"B", b}, {"C", 24}});
      const auto by_slot = bound.evaluate(values);
      ASSERT_EQ(by_name.has_value(), by_slot.has_value());
      ASSERT_EQ(by_name.value_or(-1), by_slot.value_or(-1));
      ASSERT_EQ(bound.holds(values), by_name.value_or(0) != 0);
    }
}

TEST(Expression, BindingWithoutOneOfItsNamesIsAnError) {
  const std::vector<std::string> names{"A"};
  EXPECT_EQ(Expression::parse("A * B")->bind(names).error().message, "'A * B': there is no 'B'");
}

TEST(Expression, TooFewValuesForTheSlotsAreAnErrorAndNotARead) {
  const std::vector<std::string> names{"A", "B"};
  const CompiledExpression bound = *Expression::parse("A + B")->bind(names);
  const std::vector<std::int64_t> one{1};
  EXPECT_FALSE(bound.evaluate(one));
  EXPECT_FALSE(bound.holds(one));
}

TEST(Expression, TheTextAsCppComputesTheSameWhenCompiled) {
  const std::vector<std::string> texts{
      "ceil_div(n, 3) * 2 - m", "min(n, m, 4) + max(n, -m)", "n % 5 == 2 && !(m < 3) || n >= m",
      "-n / 2 + (n != m)",      "ceil_div(-n, 4)",           "n * 3000000000"};
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / ("to_cpp." + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream source(folder / "check.cpp");
  source << "#include <algorithm>\n#include <cstdint>\nint main() {\n  const int n = 17, m = 5;\n";
  for (std::size_t i = 0; i < texts.size(); ++i)
    source << "  if (" << Expression::parse(texts[i])->to_cpp() << " != " << *evaluate(texts[i], {{"n", 17}, {"m", 5}})
           << ") return " << i + 1 << ";\n";
  source << "}\n";
  source.close();
  const std::string program = (folder / "check").string();
  EXPECT_EQ(
      std::system(
          ("c++ -std=c++17 -Wall -Wextra -Werror -Wno-parentheses -o " + program + " " + program + ".cpp").c_str()),
      0);
  EXPECT_EQ(std::system(program.c_str()), 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kagent
