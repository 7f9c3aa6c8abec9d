// SPDX-License-Identifier: Apache-2.0
#include "spec/reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kagent::spec {
namespace {

constexpr std::size_t kMaxShown = 60;
constexpr std::size_t kMaxName = 64;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string range(std::int64_t low, std::int64_t high) {
  if (high == std::numeric_limits<std::int64_t>::max()) return fmt::format("an integer of at least {}", low);
  return fmt::format("an integer from {} to {}", low, high);
}

// JSON has one kind of number, so 64.0 is an integer too, as for a JSON Schema.
std::optional<std::int64_t> as_integer(const util::Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  if (std::trunc(number) != number || std::fabs(number) > 0x1p53) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

}  // namespace

std::string shown(const util::Json& value) {
  if (value.is_object()) return value.empty() ? "{}" : "an object";
  if (value.is_array()) return value.empty() ? "[]" : "an array";
  std::string text = value.dump(-1, ' ', false, util::Json::error_handler_t::replace);
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown) + "...";
  return text;
}

bool Node::is_object() const {
  if (value_->is_object()) return true;
  problem(shown(*value_) + " is not an object", "write {\"name\": ...}");
  return false;
}

bool Node::is_array() const {
  if (value_->is_array()) return true;
  problem(shown(*value_) + " is not an array", "write [...]");
  return false;
}

bool Node::is_object_of(const std::vector<std::string>& keys) const {
  if (!is_object()) return false;
  for (const auto& [key, value] : value_->items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      problems_->add(util::child_pointer(pointer_, key), "unknown key", util::suggest(key, keys, "key"));
  return true;
}

bool Node::has(const std::string& key) const {
  return value_->is_object() && value_->contains(key);
}

std::optional<Node> Node::find(const std::string& key) const {
  if (!has(key)) return std::nullopt;
  return Node((*value_)[key], util::child_pointer(pointer_, key), *problems_);
}

std::optional<Node> Node::require(const std::string& key, const std::string& fix) const {
  std::optional<Node> found = find(key);
  if (!found) problems_->add(util::child_pointer(pointer_, key), "missing", fix);
  return found;
}

std::vector<Node> Node::elements() const {
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < value_->size(); ++i)
    nodes.emplace_back((*value_)[i], util::child_pointer(pointer_, i), *problems_);
  return nodes;
}

std::vector<std::pair<std::string, Node>> Node::members() const {
  std::vector<std::pair<std::string, Node>> nodes;
  for (const auto& [key, value] : value_->items())
    nodes.emplace_back(key, Node(value, util::child_pointer(pointer_, key), *problems_));
  return nodes;
}

std::optional<std::string> Node::text(const std::string& fix) const {
  if (value_->is_string()) return value_->get<std::string>();
  problem(shown(*value_) + " is not a string", fix);
  return std::nullopt;
}

std::optional<std::int64_t> Node::integer(std::int64_t low, std::int64_t high) const {
  const std::optional<std::int64_t> number = as_integer(*value_);
  if (number && *number >= low && *number <= high) return number;
  problem(shown(*value_) + " is not " + range(low, high), "write " + range(low, high));
  return std::nullopt;
}

std::optional<double> Node::number(double low, double high) const {
  if (value_->is_number()) {
    const double number = value_->get<double>();
    if (number >= low && number <= high) return number;
  }
  std::string allowed = "a number";
  if (std::isfinite(low) && std::isfinite(high) && high < 1e300)
    allowed = fmt::format("a number from {} to {}", low, high);
  else if (low > -1e300)
    allowed = fmt::format("a number of at least {}", low);
  problem(shown(*value_) + " is not " + allowed, "write " + allowed);
  return std::nullopt;
}

std::optional<bool> Node::boolean() const {
  if (value_->is_boolean()) return value_->get<bool>();
  problem(shown(*value_) + " is not true or false", "write true or false, without quotes");
  return std::nullopt;
}

std::optional<Expression> Node::expression() const {
  std::string text;
  if (value_->is_string()) {
    text = value_->get<std::string>();
  } else if (const auto number = as_integer(*value_); number && *number >= 0) {
    text = std::to_string(*number);
  } else {
    problem(shown(*value_) + " is no expression",
            "write an expression in quotes, such as \"2*rows\", or an integer of at least 0");
    return std::nullopt;
  }
  Result<Expression> expression = Expression::parse(text);
  if (expression) return std::move(*expression);
  problem(expression.error().message, expression.error().fix);
  return std::nullopt;
}

bool is_identifier(std::string_view text) {
  if (text.empty() || text.size() > kMaxName || !is_letter(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

bool is_qualified_identifier(std::string_view text) {
  for (;;) {
    const std::size_t end = text.find("::");
    const std::string_view part = text.substr(0, end);
    if (!is_identifier(part) || is_cpp_keyword(part)) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 2);
  }
}

bool is_file_name_part(std::string_view text, bool dots) {
  if (text.empty() || text.size() > kMaxName || text[0] == '-' || text[0] == '.') return false;
  return std::all_of(text.begin(), text.end(),
                     [dots](char c) { return is_letter(c) || is_digit(c) || c == '-' || (dots && c == '.'); });
}

bool is_cpp_keyword(std::string_view text) {
  // [lex.key] of C++23, sorted, with the alternative tokens.
  static constexpr std::string_view kKeywords[] = {
      "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
      "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
      "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
      "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
      "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
      "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
      "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
      "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
      "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
      "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
      "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
      "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
      "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
      "xor_eq"};
  return std::binary_search(std::begin(kKeywords), std::end(kKeywords), text);
}

}  // namespace kagent::spec
