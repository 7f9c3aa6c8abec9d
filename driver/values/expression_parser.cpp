// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include "values/expression.h"
#include "values/expression_program.h"

namespace kagent {
namespace {

// A bound on recursion and on the work that a hostile text can cause; real expressions are far below.
constexpr int kMaxNesting = 64;
constexpr std::size_t kMaxLength = 10'000;

struct BinaryOperator {
  std::string_view text;
  Operation operation;
  int precedence;
};

// Longer spellings first where one is the beginning of the other.
constexpr BinaryOperator kOperators[] = {{"||", Operation::logical_or, 1},  {"or", Operation::logical_or, 1},
                                         {"&&", Operation::logical_and, 2}, {"and", Operation::logical_and, 2},
                                         {"==", Operation::equal, 3},       {"!=", Operation::not_equal, 3},
                                         {"<=", Operation::less_equal, 4},  {">=", Operation::greater_equal, 4},
                                         {"<", Operation::less, 4},         {">", Operation::greater, 4},
                                         {"+", Operation::add, 5},          {"-", Operation::subtract, 5},
                                         {"*", Operation::multiply, 6},     {"/", Operation::divide, 6},
                                         {"%", Operation::remainder, 6}};

// What people write from other languages, and what to write here.
constexpr std::pair<std::string_view, std::string_view> kForeign[] = {
    {"**", "powers are not supported; write n*n"},
    {"^", "powers and exclusive or are not supported; write n*n for a square"},
    {"//", "use / (it divides integers)"},
    {"<<", "shifts are not supported; multiply by a power of two"},
    {">>", "shifts are not supported; divide by a power of two"},
    {"&", "use && (bit operations are not supported)"},
    {"|", "use || (bit operations are not supported)"},
    {"~", "bit operations are not supported"},
    {"?", "the conditional ?: is not supported; use min, max, or a comparison, which gives 0 or 1"},
    {"=", "use == to compare; nothing is assigned here"}};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Expression::Program> run() {
    if (text_.size() > kMaxLength)
      return failure("an expression of " + std::to_string(text_.size()) + " characters is too long",
                     "keep it under " + std::to_string(kMaxLength));
    if (parse_binary(1) && (skip_spaces(), at_ < text_.size())) fail_here("an operator");
    if (error_) return std::unexpected(*error_);
    return std::move(program_);
  }

 private:
  bool fail(std::size_t position, const std::string& problem, std::string fix) {
    if (!error_) {
      const std::string shown = text_.size() <= 200 ? std::string(text_) : std::string(text_.substr(0, 200)) + "...";
      error_ =
          StageError{"'" + shown + "': " + problem + " at character " + std::to_string(position + 1), std::move(fix)};
    }
    return false;
  }

  bool fail_here(const std::string& expected) {
    if (at_ >= text_.size()) return fail(at_, "it ends too early", "add " + expected);
    const std::string_view rest = text_.substr(at_);
    const BinaryOperator* found = peek_operator();
    const bool known = found != nullptr && !is_letter(found->text[0]);
    if (known) return fail(at_, "unexpected '" + std::string(found->text) + "'", "write " + expected + " before it");
    for (const auto& [foreign, fix] : kForeign)
      if (rest.starts_with(foreign)) return fail(at_, "unexpected '" + std::string(foreign) + "'", std::string(fix));
    if (rest[0] == ')') return fail(at_, "unexpected ')'", "remove it, or open it with '('");
    if (rest[0] == '.') return fail(at_, "unexpected '.'", "use integers only");
    const auto byte = static_cast<unsigned char>(rest[0]);
    const std::string shown = byte > 0x20 && byte < 0x7f ? "'" + std::string(1, rest[0]) + "'" : "a strange character";
    return fail(at_, "unexpected " + shown, "write " + expected + " here");
  }

  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  bool accept(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool expect(char c) { return accept(c) || fail_here(std::string("'") + c + "'"); }

  bool emit(Operation operation, std::size_t position, std::int64_t operand, int stack_change) {
    program_.code.push_back({operation, static_cast<std::uint32_t>(position + 1), operand});
    pending_ += stack_change;
    return pending_ <= static_cast<int>(kMaxStack) ||
           fail(position, "too many values are pending", "split the expression or remove parentheses");
  }

  const BinaryOperator* peek_operator() {
    skip_spaces();
    const std::string_view rest = text_.substr(at_);
    for (const auto& [foreign, fix] : kForeign)  // "**", "//", "<<", ">>" begin like operators
      if (foreign.size() == 2 && rest.starts_with(foreign)) return nullptr;
    for (const BinaryOperator& candidate : kOperators) {
      if (!rest.starts_with(candidate.text)) continue;
      const std::size_t end = candidate.text.size();
      const bool word = is_letter(candidate.text[0]);
      if (word && end < rest.size() && (is_letter(rest[end]) || is_digit(rest[end]))) continue;
      return &candidate;
    }
    return nullptr;
  }

  bool parse_binary(int lowest) {
    if (!parse_unary()) return false;
    bool compared = false;
    for (;;) {
      const BinaryOperator* found = peek_operator();
      if (found == nullptr || found->precedence < lowest) return true;
      const std::size_t position = at_;
      const bool relation = found->precedence == 4;
      if (relation && compared)
        return fail(position, "comparisons cannot be chained", "write a < b && b < c for a < b < c");
      compared = relation || (compared && found->precedence > 4);
      at_ += found->text.size();
      if (!parse_right_side(*found, position)) return false;
    }
  }

  bool parse_right_side(const BinaryOperator& found, std::size_t position) {
    const bool logic = found.operation == Operation::logical_and || found.operation == Operation::logical_or;
    const std::size_t skip = program_.code.size();
    if (logic)
      emit(found.operation == Operation::logical_and ? Operation::skip_if_false : Operation::skip_if_true, position, 0,
           0);
    if (!parse_binary(found.precedence + 1)) return false;
    if (logic) program_.code[skip].operand = static_cast<std::int64_t>(program_.code.size());
    return emit(found.operation, position, 0, -1);
  }

  bool parse_unary() {
    if (++nesting_ > kMaxNesting)
      return fail(at_, "nested more than " + std::to_string(kMaxNesting) + " deep", "remove parentheses or signs");
    const bool parsed = parse_unary_inside();
    --nesting_;
    return parsed;
  }

  bool parse_unary_inside() {
    skip_spaces();
    if (at_ >= text_.size()) return fail_here("a number, a name or '('");
    const std::size_t position = at_;
    const char c = text_[at_];
    if (c == '-' || c == '!') {
      ++at_;
      return parse_unary() && emit(c == '-' ? Operation::negate : Operation::logical_not, position, 0, 0);
    }
    if (c == '(') {
      ++at_;
      return parse_binary(1) && expect(')');
    }
    if (is_digit(c)) return parse_number();
    if (is_letter(c)) return parse_word();
    return fail_here("a number, a name or '('");
  }

  bool parse_number() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_digit(text_[at_]) || is_letter(text_[at_]) || text_[at_] == '.')) ++at_;
    const std::string digits(text_.substr(start, at_ - start));
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (code == std::errc::result_out_of_range)
      return fail(start, digits + " does not fit 64 bits", "use a smaller one");
    if (end != digits.data() + digits.size() || (digits.size() > 1 && digits[0] == '0'))
      return fail(start, "'" + digits + "' is not a decimal integer", "write it as decimal digits, without a suffix");
    return emit(Operation::constant, start, value, +1);
  }

  bool parse_word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string word(text_.substr(start, at_ - start));
    if (word == "not") return parse_not(start);
    if (word == "and" || word == "or")
      return fail(start, "'" + word + "' without a left side", "write a number, a name or '(' before it");
    const bool called = accept('(');
    if (word == "min" || word == "max" || word == "ceil_div") {
      if (!called) return fail(start, "'" + word + "' is a function", "write " + word + "(a, b)");
      return parse_arguments(word, start);
    }
    if (called) return fail(start, "there is no function '" + word + "'", "the functions are min, max and ceil_div");
    return emit(Operation::name, start, name_index(word), +1);
  }

  // As in C++ "not" binds like !; Python reads "not a == b" the other way, so that spelling is refused.
  bool parse_not(std::size_t start) {
    if (!parse_unary() || !emit(Operation::logical_not, start, 0, 0)) return false;
    const BinaryOperator* next = peek_operator();
    return next == nullptr || next->precedence <= 2 || fail(start, "'not' before a comparison", "write not (a == b)");
  }

  bool parse_arguments(const std::string& function, std::size_t position) {
    const Operation operation = function == "min"   ? Operation::min
                                : function == "max" ? Operation::max
                                                    : Operation::ceil_div;
    int count = 0;
    do {
      if (!parse_binary(1)) return false;
      if (++count > 1 && !emit(operation, position, 0, -1)) return false;
    } while (accept(','));
    if (!expect(')')) return false;
    if (operation == Operation::ceil_div ? count == 2 : count >= 2) return true;
    return fail(position, function + " with " + std::to_string(count) + " argument" + (count == 1 ? "" : "s"),
                "write " + function + "(a, b)");
  }

  std::int64_t name_index(const std::string& name) {
    auto found = std::find(program_.names.begin(), program_.names.end(), name);
    if (found == program_.names.end()) found = program_.names.insert(found, name);
    return found - program_.names.begin();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  int pending_ = 0;
  Expression::Program program_;
  std::optional<StageError> error_;
};

}  // namespace

Result<Expression> Expression::parse(std::string_view text) {
  Result<Program> program = Parser(text).run();
  if (!program) return std::unexpected(program.error());
  Expression expression;
  expression.text_ = std::string(text);
  expression.names_ = {program->names.begin(), program->names.end()};
  expression.program_ = std::make_shared<const Program>(std::move(*program));
  return expression;
}

}  // namespace kagent
