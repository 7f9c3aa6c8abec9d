// SPDX-License-Identifier: Apache-2.0
#include "proposer/nearest_match.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "proposer/text_lines.h"
#include "util/edit_distance.h"
#include "util/text.h"

namespace kagent::proposer {

namespace {

// The beginning of a search is enough to say where it was meant, and keeps the comparison below half a million steps.
constexpr std::size_t kMostLines = 60, kMostWords = 600;
// Windows that are compared word by word.
constexpr std::size_t kFinalists = 4;
// What has less in common is another text.
constexpr double kLeastSimilarity = 0.4;
constexpr std::size_t kMostText = 4096;

using Words = std::vector<std::uint32_t>;

struct WordLine {
  int number = 0;  // from 1
  Words words;
};

std::vector<WordLine> word_lines(std::string_view text, Numbering& numbering, std::size_t* steps) {
  std::vector<WordLine> result;
  int number = 0;
  for (const Line& line : lines_of(text)) {
    ++number;
    WordLine words{number, {}};
    for (const std::string_view word : words_of(text.substr(line.begin, line.end - line.begin)))
      words.words.push_back(numbering.of(word));
    if (steps != nullptr) *steps += words.words.size() + 1;
    if (!words.words.empty()) result.push_back(std::move(words));
  }
  return result;
}

struct Window {
  std::size_t first = 0;  // index of a word line
  double shared = 0;      // words in common, over the longer length
};

// The windows of `count` lines that share most words, best first, no two of them overlapping by more than half.
std::vector<Window> rank_windows(const std::vector<WordLine>& source, std::size_t count, const Words& wanted,
                                 std::size_t vocabulary) {
  std::vector<std::int32_t> missing(vocabulary, 0);
  for (const std::uint32_t word : wanted) ++missing[word];
  std::vector<Window> best;
  std::size_t shared = 0, length = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    for (const std::uint32_t word : source[i].words) shared += missing[word]-- > 0 ? 1 : 0;
    length += source[i].words.size();
    if (i >= count) {
      for (const std::uint32_t word : source[i - count].words) shared -= ++missing[word] > 0 ? 1 : 0;
      length -= source[i - count].words.size();
    }
    if (i + 1 < std::min(count, source.size())) continue;
    const Window window{i + 1 - std::min(count, i + 1),
                        static_cast<double>(shared) / static_cast<double>(std::max(length, wanted.size()))};
    const auto place =
        std::ranges::upper_bound(best, window.shared, std::greater<>(), [](const Window& w) { return w.shared; });
    if (place == best.end() && best.size() >= kFinalists) continue;
    best.insert(place, window);
    if (best.size() > kFinalists) best.pop_back();
  }
  return best;
}

}  // namespace

NearestMatch nearest_match(std::string_view source, std::string_view search, std::size_t* steps) {
  Numbering numbering;
  std::vector<WordLine> wanted_lines = word_lines(search, numbering, steps);
  if (wanted_lines.size() > kMostLines) wanted_lines.resize(kMostLines);
  Words wanted;
  for (const WordLine& line : wanted_lines) wanted.insert(wanted.end(), line.words.begin(), line.words.end());
  if (wanted.size() > kMostWords) wanted.resize(kMostWords);
  const std::vector<WordLine> lines = word_lines(source, numbering, steps);
  if (wanted.empty() || lines.empty()) return {};

  NearestMatch nearest;
  for (const Window& window : rank_windows(lines, wanted_lines.size(), wanted, numbering.size())) {
    const std::size_t past = std::min(lines.size(), window.first + wanted_lines.size());
    Words words;
    for (std::size_t i = window.first; i < past && words.size() < kMostWords; ++i)
      words.insert(words.end(), lines[i].words.begin(), lines[i].words.end());
    if (words.size() > kMostWords) words.resize(kMostWords);
    if (steps != nullptr) *steps += words.size() * wanted.size();
    const double similarity = 1 - static_cast<double>(util::edit_distance(words, wanted)) /
                                      static_cast<double>(std::max(words.size(), wanted.size()));
    if (similarity < kLeastSimilarity || similarity <= nearest.similarity) continue;
    const std::vector<Line> places = lines_of(source);
    const std::size_t begin = places[static_cast<std::size_t>(lines[window.first].number) - 1].begin;
    const std::size_t end = places[static_cast<std::size_t>(lines[past - 1].number) - 1].end;
    nearest = {lines[window.first].number, util::clean(source.substr(begin, end - begin), kMostText), similarity};
  }
  return nearest;
}

}  // namespace kagent::proposer
