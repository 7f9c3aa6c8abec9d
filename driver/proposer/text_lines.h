// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kagent::proposer {

// A line of a text: [begin, end) without its end of line, which reaches up to `next`.
struct Line {
  std::size_t begin = 0, end = 0, next = 0;
};

// Lines ended by "\n" or "\r\n"; the last one may have no end. An empty text has none.
std::vector<Line> lines_of(std::string_view text);

// The text with "\r\n" as "\n".
std::string with_plain_ends(std::string_view text);

// Blanks and tabs in front.
std::string_view indentation(std::string_view line);

// Without blanks that mean nothing to a compiler: only those between two words stay, as one. Equal for lines that are
// laid out differently. Empty for a blank line.
std::string without_layout(std::string_view line);

// Words (names, numbers) and single signs of a text, blanks left out.
std::vector<std::string_view> words_of(std::string_view text);

// Numbers texts, equal ones alike, so that comparing them costs nothing.
class Numbering {
 public:
  std::uint32_t of(std::string_view text);
  std::size_t size() const { return numbers_.size(); }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

// Where `pattern` begins in `text`, at most `most` places, overlapping ones too (Knuth, Morris, Pratt 1977): linear
// whatever the input. An empty pattern is nowhere.
template <class T>
std::vector<std::size_t> find_all(std::span<const T> text, std::span<const T> pattern, std::size_t most) {
  std::vector<std::size_t> found;
  if (pattern.empty() || pattern.size() > text.size()) return found;
  std::vector<std::size_t> border(pattern.size(), 0);
  for (std::size_t i = 1, k = 0; i < pattern.size(); ++i) {
    while (k > 0 && pattern[i] != pattern[k]) k = border[k - 1];
    if (pattern[i] == pattern[k]) ++k;
    border[i] = k;
  }
  for (std::size_t i = 0, k = 0; i < text.size() && found.size() < most; ++i) {
    while (k > 0 && text[i] != pattern[k]) k = border[k - 1];
    if (text[i] == pattern[k]) ++k;
    if (k < pattern.size()) continue;
    found.push_back(i + 1 - k);
    k = border[k - 1];
  }
  return found;
}

}  // namespace kagent::proposer
