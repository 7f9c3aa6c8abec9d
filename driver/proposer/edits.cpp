// SPDX-License-Identifier: Apache-2.0
#include "proposer/edits.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "proposer/nearest_match.h"
#include "proposer/text_lines.h"
#include "util/text.h"

namespace kagent::proposer {

namespace {

constexpr std::size_t kMostPlaces = 20;
constexpr std::size_t kTabWidth = 4;

// [begin, end) of the source as given, and what it gives way to, with plain ends of line.
struct Place {
  std::size_t begin = 0, end = 0;
  std::string text;
  std::size_t edit = 0;
};

std::size_t columns(std::string_view blanks) {
  std::size_t width = 0;
  for (const char c : blanks) width += c == '\t' ? kTabWidth - width % kTabWidth : 1;
  return width;
}

// A text taken to another depth: `from` was in front of what was searched for, `to` is in front of what was found.
std::string indented(std::string_view text, std::string_view from, std::string_view to) {
  if (from == to) return std::string(text);
  std::string result;
  const std::size_t from_width = columns(from), to_width = columns(to);
  for (const Line& line : lines_of(text)) {
    const std::string_view content = text.substr(line.begin, line.end - line.begin);
    const std::string_view blanks = indentation(content);
    if (blanks.size() == content.size()) {
      // A blank line stays as it is.
    } else if (content.starts_with(from)) {
      result += to;
      result += content.substr(from.size());
      result += text.substr(line.end, line.next - line.end);
      continue;
    } else {
      const std::size_t width = columns(blanks) + to_width;
      result.append(width > from_width ? width - from_width : 0, ' ');
    }
    result += content.substr(blanks.size());
    result += text.substr(line.end, line.next - line.end);
  }
  return result;
}

std::string_view without_last_end(std::string_view text) {
  return text.ends_with('\n') ? text.substr(0, text.size() - 1) : text;
}

std::string_view without_blanks_around(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin);
}

class Patcher {
 public:
  Patcher(std::string_view source, const EditLimits& limits)
      : source_(source), limits_(limits), lines_(lines_of(source)), plain_(with_plain_ends(source)) {
    std::size_t plain = 0, returns = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::string_view content = content_of(i);
      plain_begins_.push_back(plain);
      plain += content.size() + 1;
      if (lines_[i].next - lines_[i].end == 2) ++returns;
      exact_.push_back(numbering_.of(content));
      const std::string bare = without_layout(content);
      if (bare.empty()) continue;
      bare_.push_back(bare_numbering_.of(bare));
      bare_lines_.push_back(i);
    }
    carriage_returns_ = 2 * returns > lines_.size();
    step(source.size());
  }

  std::expected<std::string, EditProblem> apply(const std::vector<Edit>& edits) {
    std::vector<Place> places;
    for (std::size_t i = 0; i < edits.size(); ++i) {
      auto place = locate(edits[i], i);
      if (!place) return std::unexpected(std::move(place).error());
      const bool again = std::ranges::any_of(places, [&](const Place& known) {
        return known.begin == place->begin && known.end == place->end && known.text == place->text;
      });
      if (!again) places.push_back(*std::move(place));
    }
    std::ranges::stable_sort(places, {}, &Place::begin);
    for (std::size_t i = 1; i < places.size(); ++i)
      if (places[i].begin < places[i - 1].end) return overlapping(places[i - 1], places[i]);
    return put_together(places);
  }

 private:
  std::string_view content_of(std::size_t line) const {
    return source_.substr(lines_[line].begin, lines_[line].end - lines_[line].begin);
  }
  void step(std::size_t count) {
    if (limits_.steps != nullptr) *limits_.steps += count;
  }

  std::expected<Place, EditProblem> locate(const Edit& edit, std::size_t index) {
    const std::string search = with_plain_ends(edit.search), replace = with_plain_ends(edit.replace);
    const bool blank = without_layout(search).find_first_not_of('\n') == std::string::npos;
    if (blank) {
      if (!bare_.empty())
        return problem(EditError::empty_search, index,
                       "its search text is empty; quote the lines that are to be replaced, or answer with the whole "
                       "file");
      return Place{0, source_.size(), replace, index};
    }
    std::vector<std::uint32_t> exact, bare;
    std::vector<std::string_view> blanks;  // in front of each line that is not blank
    for (const Line& line : lines_of(search)) {
      const std::string_view content = std::string_view(search).substr(line.begin, line.end - line.begin);
      exact.push_back(numbering_.of(content));
      const std::string without = without_layout(content);
      if (without.empty()) continue;
      blanks.push_back(indentation(content));
      bare.push_back(bare_numbering_.of(without));
    }
    step(search.size() + 2 * lines_.size());
    if (const auto found = find_all<std::uint32_t>(exact_, exact, kMostPlaces); !found.empty()) {
      if (found.size() > 1) return ambiguous(index, found);
      return whole_lines(found[0], found[0] + exact.size() - 1, replace, index);
    }
    if (const auto found = find_all<std::uint32_t>(bare_, bare, kMostPlaces); !found.empty()) {
      std::vector<std::size_t> starts;
      for (const std::size_t start : found) starts.push_back(bare_lines_[start]);
      if (found.size() > 1) return ambiguous(index, starts);
      return whole_lines(starts[0], bare_lines_[found[0] + bare.size() - 1], moved(replace, blanks, found[0]), index);
    }
    return part_of_a_line(search, replace, index);
  }

  // The replacement, indented as the lines that it replaces; `blanks` is what was in front of the searched ones.
  std::string moved(const std::string& replace, const std::vector<std::string_view>& blanks, std::size_t found) const {
    const std::string_view wanted = indentation(content_of(bare_lines_[found]));
    bool others_fit = blanks.size() > 1;
    for (std::size_t i = 1; i < blanks.size() && others_fit; ++i)
      others_fit = blanks[i] == indentation(content_of(bare_lines_[found + i]));
    if (!others_fit) return indented(replace, blanks[0], wanted);
    // Only the first line lost what was in front of it, as texts do when they are trimmed.
    const std::size_t first = std::min(replace.find('\n'), replace.size());
    return indented(std::string_view(replace).substr(0, first), blanks[0], wanted) + replace.substr(first);
  }

  Place whole_lines(std::size_t first, std::size_t last, std::string replace, std::size_t index) const {
    if (replace.empty()) return {lines_[first].begin, lines_[last].next, {}, index};
    if (replace.ends_with('\n')) replace.pop_back();
    return {lines_[first].begin, lines_[last].end, std::move(replace), index};
  }

  // Blocks quote whole lines, so a part of one has an end of line, and often blanks, that the source has not.
  std::expected<Place, EditProblem> part_of_a_line(const std::string& search, const std::string& replace,
                                                   std::size_t index) {
    const std::pair<std::string_view, std::string_view> tries[] = {
        {search, replace},
        {without_last_end(search), without_last_end(replace)},
        {without_blanks_around(search), without_blanks_around(replace)}};
    for (const auto& [wanted, text] : tries) {
      step(plain_.size() + wanted.size());
      const auto found = find_all<char>(plain_, wanted, kMostPlaces);
      if (found.size() > 1) {
        std::vector<std::size_t> starts;
        for (const std::size_t at : found) starts.push_back(line_at(at));
        return ambiguous(index, starts);
      }
      if (found.size() == 1)
        return Place{in_source(found[0]), in_source(found[0] + wanted.size()), std::string(text), index};
    }
    EditProblem missing{EditError::not_found, index, {}, nearest_match(source_, search, limits_.steps), {}};
    missing.message = fmt::format("edit {}: its search text does not stand in the source. ", index + 1);
    if (missing.nearest.line > 0)
      missing.message += fmt::format(
          "The nearest lines ({:.0f} % alike) begin at line {}:\n{}\nQuote lines as they stand in the source, or "
          "answer "
          "with the whole file.",
          100 * missing.nearest.similarity, missing.nearest.line, missing.nearest.text);
    else
      missing.message +=
          "Nothing in the source is near to it. Quote lines as they stand in the source, or answer with the whole "
          "file.";
    return std::unexpected(std::move(missing));
  }

  // Index of the line that holds a place of the plain text.
  std::size_t line_at(std::size_t plain) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(plain_begins_, plain) - plain_begins_.begin()) - 1;
  }
  std::size_t in_source(std::size_t plain) const {
    if (plain >= plain_.size()) return source_.size();
    const std::size_t line = line_at(plain);
    return lines_[line].begin + (plain - plain_begins_[line]);
  }

  std::unexpected<EditProblem> problem(EditError error, std::size_t index, const std::string& message) const {
    return std::unexpected(EditProblem{error, index, {}, {}, fmt::format("edit {}: {}", index + 1, message)});
  }
  std::unexpected<EditProblem> ambiguous(std::size_t index, const std::vector<std::size_t>& starts) const {
    EditProblem result{EditError::ambiguous, index, {}, {}, {}};
    std::string list;
    for (const std::size_t start : starts) {
      if (!result.lines.empty() && result.lines.back() == static_cast<int>(start) + 1) continue;
      result.lines.push_back(static_cast<int>(start) + 1);
      list += (list.empty() ? "" : ", ") + std::to_string(start + 1);
    }
    result.message = fmt::format(
        "edit {}: its search text stands in the source more than once (at line {}{}); quote more lines around the one "
        "that is meant",
        index + 1, list, starts.size() >= kMostPlaces ? ", ..." : "");
    return std::unexpected(std::move(result));
  }
  std::unexpected<EditProblem> overlapping(const Place& a, const Place& b) const {
    return problem(EditError::overlapping, b.edit,
                   fmt::format("it changes text that edit {} changes too; put both into one block", a.edit + 1));
  }

  std::expected<std::string, EditProblem> put_together(const std::vector<Place>& places) const {
    std::string result;
    std::size_t at = 0;
    for (const Place& place : places) {
      result += source_.substr(at, place.begin - at);
      for (const char c : place.text) {
        if (c == '\n' && carriage_returns_) result += '\r';
        result += c;
      }
      at = place.end;
    }
    result += source_.substr(at);
    if (result.size() > limits_.max_bytes)
      return std::unexpected(EditProblem{
          EditError::too_large,
          0,
          {},
          {},
          fmt::format("the edited source has {} bytes; at most {} are taken", result.size(), limits_.max_bytes)});
    if (result == source_)
      return std::unexpected(EditProblem{
          EditError::nothing_changed, 0, {}, {}, "the edits change nothing: the result is the source as it was"});
    return result;
  }

  std::string_view source_;
  const EditLimits& limits_;
  std::vector<Line> lines_;
  std::string plain_;                      // the source with "\n" alone
  std::vector<std::size_t> plain_begins_;  // of each line in plain_
  Numbering numbering_, bare_numbering_;
  std::vector<std::uint32_t> exact_;     // a line each
  std::vector<std::uint32_t> bare_;      // a line that is not blank each, layout left out
  std::vector<std::size_t> bare_lines_;  // parallel to bare_: index into lines_
  bool carriage_returns_ = false;
};

}  // namespace

std::string_view name(EditError error) {
  switch (error) {
    case EditError::empty_search:
      return "empty_search";
    case EditError::not_found:
      return "not_found";
    case EditError::ambiguous:
      return "ambiguous";
    case EditError::overlapping:
      return "overlapping";
    case EditError::too_many:
      return "too_many";
    case EditError::nothing_changed:
      return "nothing_changed";
    case EditError::too_large:
      return "too_large";
  }
  return "";
}

std::expected<std::string, EditProblem> apply_edits(std::string_view source, const std::vector<Edit>& edits,
                                                    const EditLimits& limits) {
  if (edits.size() > static_cast<std::size_t>(std::max(0, limits.max_edits)))
    return std::unexpected(EditProblem{
        EditError::too_many,
        static_cast<std::size_t>(std::max(0, limits.max_edits)),
        {},
        {},
        fmt::format("{} edits, but at most {} places may change in one answer; keep those that matter most, and put "
                    "neighbouring ones into one block",
                    edits.size(), limits.max_edits)});
  for (std::size_t i = 0; i < edits.size(); ++i)
    if (edits[i].search.size() > limits.max_bytes || edits[i].replace.size() > limits.max_bytes)
      return std::unexpected(EditProblem{EditError::too_large,
                                         i,
                                         {},
                                         {},
                                         fmt::format("edit {}: its text is longer than any source that is taken ({} "
                                                     "bytes)",
                                                     i + 1, limits.max_bytes)});
  return Patcher(source, limits).apply(edits);
}

}  // namespace kagent::proposer
