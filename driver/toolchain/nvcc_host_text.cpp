// SPDX-License-Identifier: Apache-2.0
#include "toolchain/nvcc_host_text.h"

#include <algorithm>
#include <array>

namespace kagent::toolchain {

namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

std::size_t skip_spaces_back(std::string_view text, std::size_t end) {
  while (end > 0 && is_space(text[end - 1])) --end;
  return end;
}

std::size_t word_begin(std::string_view text, std::size_t end) {
  while (end > 0 && is_word(text[end - 1])) --end;
  return end;
}

// The word that ends at `end`.
std::string_view word_before(std::string_view text, std::size_t end) {
  const std::size_t begin = word_begin(text, end);
  return text.substr(begin, end - begin);
}

// Where the bracket that is closed just before `end` opens, or 0.
std::size_t opening(std::string_view text, std::size_t end) {
  int depth = 0;
  for (std::size_t i = end; i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return 0;
}

std::size_t closing(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return text.npos;
}

// The type behind "auto f(...)->type".
std::string trailing_type(std::string_view text, std::size_t bracket) {
  const std::size_t close = closing(text, bracket);
  if (close == text.npos || !text.substr(close + 1).starts_with("->")) return {};
  std::size_t begin = close + 3;
  while (begin < text.size() && is_space(text[begin])) ++begin;
  std::size_t end = begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return std::string(text.substr(begin, end - begin));
}

// The type in front of a name that begins at `at`, or nothing if this is no declaration.
std::string type_before(std::string_view text, std::size_t at, std::size_t bracket) {
  constexpr std::array<std::string_view, 8> kNoTypes = {"return", "else",      "new",  "case",
                                                        "throw",  "co_return", "goto", "delete"};
  while (at >= 2 && text.substr(at - 2, 2) == "::") at = word_begin(text, at - 2);
  const std::size_t end = skip_spaces_back(text, at);
  if (end == at) return {};
  const std::string_view type = word_before(text, end);
  if (type.empty() || std::ranges::find(kNoTypes, type) != kNoTypes.end()) return {};
  return type == "auto" ? trailing_type(text, bracket) : std::string(type);
}

}  // namespace

std::string result_type(std::string_view text, std::string_view function) {
  if (const std::size_t colon = function.rfind(':'); colon != function.npos) function.remove_prefix(colon + 1);
  std::string type;
  if (function.empty()) return type;
  for (std::size_t at = text.find(function); at != text.npos; at = text.find(function, at + function.size())) {
    std::size_t bracket = at + function.size();
    if (at > 0 && is_word(text[at - 1])) continue;
    while (bracket < text.size() && is_space(text[bracket])) ++bracket;
    if (bracket == text.size() || text[bracket] != '(') continue;
    if (std::string found = type_before(text, at, bracket); !found.empty()) type = std::move(found);
  }
  return type;
}

std::set<std::string> device_functions(std::string_view text) {
  constexpr std::string_view kBody = "int volatile ___ = 1;";
  std::set<std::string> names;
  for (std::size_t at = text.find(kBody); at != text.npos; at = text.find(kBody, at + kBody.size())) {
    const std::size_t brace = text.rfind('{', at);
    const std::size_t close = brace != text.npos ? text.rfind(')', brace) : text.npos;
    // Qualifiers such as const may stand between; anything longer is something else.
    if (close == text.npos || brace - close > 64) continue;
    const std::size_t end = skip_spaces_back(text, opening(text, close + 1));
    if (const std::string_view name = word_before(text, end); !name.empty()) names.emplace(name);
  }
  return names;
}

}  // namespace kagent::toolchain
