// SPDX-License-Identifier: Apache-2.0
#include "proposer/text_lines.h"

namespace kagent::proposer {

namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

}  // namespace

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t newline = text.find('\n', begin);
    if (newline == text.npos) {
      lines.push_back({begin, text.size(), text.size()});
      break;
    }
    const bool returns = newline > begin && text[newline - 1] == '\r';
    lines.push_back({begin, newline - (returns ? 1 : 0), newline + 1});
    begin = newline + 1;
  }
  return lines;
}

std::string with_plain_ends(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || i + 1 >= text.size() || text[i + 1] != '\n') plain += text[i];
  return plain;
}

std::string_view indentation(std::string_view line) {
  std::size_t length = 0;
  while (length < line.size() && (line[length] == ' ' || line[length] == '\t')) ++length;
  return line.substr(0, length);
}

std::string without_layout(std::string_view line) {
  std::string bare;
  bool gap = false;
  for (const char c : line) {
    if (is_blank(c)) {
      gap = true;
      continue;
    }
    if (gap && !bare.empty() && is_word(bare.back()) && is_word(c)) bare += ' ';
    gap = false;
    bare += c;
  }
  return bare;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == i) end = i + 1;
    if (!is_blank(text[i]) && text[i] != '\n') words.push_back(text.substr(i, end - i));
    i = end;
  }
  return words;
}

std::uint32_t Numbering::of(std::string_view text) {
  return numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(numbers_.size())).first->second;
}

}  // namespace kagent::proposer
