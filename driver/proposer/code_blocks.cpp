// SPDX-License-Identifier: Apache-2.0
#include "proposer/code_blocks.h"

#include <array>
#include <optional>

#include "proposer/text_lines.h"

namespace kagent::proposer {

namespace {

// A launch has three '<'; git's conflict markers have seven.
constexpr std::size_t kShortestMarker = 5;

// The number of `sign`s that a line begins with, up to three blanks passed over; `rest` is what follows.
std::size_t run_of(std::string_view line, char sign, std::string_view& rest) {
  std::size_t begin = 0;
  while (begin < 3 && begin < line.size() && line[begin] == ' ') ++begin;
  std::size_t end = begin;
  while (end < line.size() && line[end] == sign) ++end;
  rest = line.substr(end);
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
  while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\t' || rest.back() == '\r')) rest.remove_suffix(1);
  return end - begin;
}

bool is_marker(std::string_view line, char sign) {
  std::string_view rest;
  if (run_of(line, sign, rest) < kShortestMarker) return false;
  return sign == '=' ? rest.empty() : rest.find(' ') == rest.npos;
}

struct Fence {
  char sign = '`';
  std::size_t length = 0;
};

std::optional<Fence> opening_fence(std::string_view line, std::string& language) {
  for (const char sign : {'`', '~'}) {
    std::string_view rest;
    const std::size_t length = run_of(line, sign, rest);
    // Code in a line of its own is no fence: ```x```.
    if (length < 3 || rest.find(sign) != rest.npos) continue;
    language.clear();
    for (const char c : rest) {
      if (c == ' ' || c == '\t' || c == '{' || c == ',' || c == ':') break;
      language += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return Fence{sign, length};
  }
  return std::nullopt;
}

bool closes(std::string_view line, const Fence& fence) {
  std::string_view rest;
  return run_of(line, fence.sign, rest) >= fence.length && rest.empty();
}

// A part of a search/replace block without a fence of its own around it.
std::string without_fence(std::string text) {
  const std::vector<Line> lines = lines_of(text);
  std::string language;
  if (lines.size() < 2) return text;
  const auto content = [&](const Line& line) {
    return std::string_view(text).substr(line.begin, line.end - line.begin);
  };
  const auto fence = opening_fence(content(lines.front()), language);
  if (!fence || !closes(content(lines.back()), *fence)) return text;
  return text.substr(lines[1].begin, lines.back().begin - lines[1].begin);
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), lines_(lines_of(text)) {}

  CodeBlocks run() {
    while (at_ < lines_.size()) {
      if (is_marker(content(at_), '<'))
        read_edit();
      else if (fence_)
        read_in_fence();
      else
        read_outside();
    }
    if (fence_) end_fence(false);
    return std::move(blocks_);
  }

 private:
  std::string_view content(std::size_t line) const {
    return text_.substr(lines_[line].begin, lines_[line].end - lines_[line].begin);
  }
  void append_line(std::string& text) {
    text += content(at_++);
    text += '\n';
  }

  void read_edit() {
    const int line = static_cast<int>(at_) + 1;
    std::string search, replace;
    for (++at_; at_ < lines_.size() && !is_marker(content(at_), '=') && !is_marker(content(at_), '>');)
      append_line(search);
    if (at_ < lines_.size() && is_marker(content(at_), '=')) {
      for (++at_; at_ < lines_.size() && !is_marker(content(at_), '>');) append_line(replace);
      if (at_ < lines_.size()) {
        ++at_;
        had_edits_ = true;
        blocks_.edits.push_back({without_fence(std::move(search)), without_fence(std::move(replace))});
        return;
      }
    }
    if (blocks_.problem.empty())
      blocks_.problem = "the search/replace block at line " + std::to_string(line) +
                        (at_ < lines_.size() ? " has no '=======' line" : " has no '>>>>>>> REPLACE' line");
    if (at_ < lines_.size()) ++at_;
  }

  void read_in_fence() {
    if (closes(content(at_), *fence_)) {
      ++at_;
      end_fence(true);
    } else {
      append_line(block_.text);
    }
  }
  void read_outside() {
    fence_ = opening_fence(content(at_), block_.language);
    if (fence_)
      ++at_;
    else
      append_line(blocks_.unfenced);
    had_edits_ = false;
  }
  void end_fence(bool closed) {
    block_.closed = closed;
    if (!had_edits_) blocks_.fenced.push_back(std::move(block_));
    block_ = {};
    fence_.reset();
  }

  std::string_view text_;
  std::vector<Line> lines_;
  std::size_t at_ = 0;
  std::optional<Fence> fence_;
  FencedBlock block_;
  bool had_edits_ = false;  // the open fence held a search/replace block
  CodeBlocks blocks_;
};

}  // namespace

CodeBlocks read_code_blocks(std::string_view text) {
  return Reader(text).run();
}

std::string_view behind_fence(std::string_view head, std::string_view tail) {
  const CodeBlocks before = read_code_blocks(head);
  if (before.fenced.empty() || before.fenced.back().closed) return tail;
  for (const Line& line : lines_of(tail)) {
    const std::string_view content = tail.substr(line.begin, line.end - line.begin);
    if (closes(content, {'`', 3}) || closes(content, {'~', 3})) return tail.substr(line.next);
  }
  return tail;
}

std::vector<Edit> edits_of_diff(std::string_view diff) {
  std::vector<Edit> edits;
  bool in_hunk = false;
  for (const Line& line : lines_of(diff)) {
    const std::string_view content = diff.substr(line.begin, line.end - line.begin);
    if (content.starts_with("@@")) {
      in_hunk = true;
      edits.emplace_back();
    } else if (in_hunk &&
               (content.starts_with("diff ") || content.starts_with("--- ") || content.starts_with("+++ "))) {
      in_hunk = false;
    } else if (in_hunk && !content.starts_with('\\')) {
      // An empty context line often loses its blank.
      const char sign = content.empty() ? ' ' : content.front();
      const std::string text = std::string(content.empty() ? content : content.substr(1)) + "\n";
      if (sign != '+') edits.back().search += text;
      if (sign != '-') edits.back().replace += text;
    }
  }
  std::erase_if(edits, [](const Edit& edit) { return edit.search == edit.replace; });
  return edits;
}

std::string plain_code(std::string_view text) {
  struct Substitute {
    std::string_view typographic, plain;
  };
  constexpr std::array<Substitute, 8> kSubstitutes = {{{"\xE2\x80\x9C", "\""},
                                                       {"\xE2\x80\x9D", "\""},
                                                       {"\xE2\x80\x98", "'"},
                                                       {"\xE2\x80\x99", "'"},
                                                       {"\xC2\xA0", " "},
                                                       {"\xE2\x80\xAF", " "},
                                                       {"\xE2\x80\x8B", ""},
                                                       {"\xEF\xBB\xBF", ""}}};
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Substitute* substitute = nullptr;
    if (static_cast<unsigned char>(text[i]) >= 0x80)
      for (const Substitute& known : kSubstitutes)
        if (text.substr(i).starts_with(known.typographic)) substitute = &known;
    if (substitute != nullptr) {
      plain += substitute->plain;
      i += substitute->typographic.size();
    } else {
      plain += text[i++];
    }
  }
  return plain;
}

}  // namespace kagent::proposer
