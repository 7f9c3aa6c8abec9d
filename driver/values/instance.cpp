// SPDX-License-Identifier: Apache-2.0
#include "values/instance.h"

#include <algorithm>
#include <cstddef>

namespace kagent {
namespace {

constexpr std::size_t kLongest = 512;

bool is_allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_:<>, *+/%()&|!=~.-").find(c) != std::string_view::npos;
}

}  // namespace

bool is_instance_of(std::string_view text, std::string_view entry) {
  if (text.size() > kLongest || !text.starts_with(entry) || !std::ranges::all_of(text, is_allowed)) return false;
  text.remove_prefix(entry.size());
  if (!text.starts_with('<')) return false;
  // The bracket that is opened first is closed by the last character; within parentheses < and > compare.
  int angles = 0, parentheses = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++parentheses;
    if (text[i] == ')' && --parentheses < 0) return false;
    if (parentheses > 0) continue;
    if (text[i] == '<') ++angles;
    if (text[i] == '>' && --angles == 0) return i + 1 == text.size();
  }
  return false;
}

}  // namespace kagent
