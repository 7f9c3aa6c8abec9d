// SPDX-License-Identifier: Apache-2.0
#include "proposer/answer.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "proposer/answer_object.h"
#include "proposer/code_blocks.h"
#include "proposer/loose_json.h"
#include "util/text.h"

namespace kagent::proposer {

namespace {

// Models think aloud in objects too. More than this many are no answer, and each that has no end costs a pass.
constexpr int kMostObjects = 16, kMostOpenObjects = 4;

std::unexpected<AnswerProblem> problem(AnswerError error, std::string message) {
  return std::unexpected(AnswerProblem{error, std::move(message)});
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == text.npos;
}

// What stands behind a model's reasoning, where that came in the same text.
std::string_view without_reasoning(std::string_view text) {
  constexpr std::string_view kEnd = "</think>";
  const std::size_t end = text.rfind(kEnd);
  return end == text.npos ? text : text.substr(end + kEnd.size());
}

struct FoundObject {
  Answer answer;
  std::size_t begin = 0, end = 0;
};

// The last object that can be read; else what was wrong with the last one that looked like an answer.
std::expected<FoundObject, AnswerProblem> find_object(std::string_view text) {
  std::expected<FoundObject, AnswerProblem> best =
      problem(AnswerError::no_object, "there is no JSON object; begin the answer with it");
  int open = 0;
  std::size_t from = 0;
  for (int i = 0; i < kMostObjects && open < kMostOpenObjects; ++i) {
    const auto object = next_object(text, from);
    if (!object) break;
    if (!object->closed) {
      ++open;
      from = object->begin + 1;
      if (!best)
        best = problem(AnswerError::truncated,
                       fmt::format("the JSON object that begins at byte {} has no end: the answer was cut off; answer "
                                   "more briefly, with edits instead of a whole file",
                                   object->begin));
      continue;
    }
    from = object->end;
    auto answer = read_answer_object(object->strict);
    if (answer)
      best = FoundObject{*std::move(answer), object->begin, object->end};
    else if (!best && answer.error().error != AnswerError::no_object)
      best = std::unexpected(std::move(answer).error());
  }
  return best;
}

bool is_this_language(std::string_view language) {
  constexpr std::array<std::string_view, 17> kLanguages = {"",     "c",    "cc",       "cpp",      "c++",      "cxx",
                                                           "cu",   "cuda", "h",        "hpp",      "cuh",      "hip",
                                                           "text", "code", "cuda-cpp", "cuda-c++", "plaintext"};
  return std::ranges::find(kLanguages, language) != kLanguages.end();
}

// C++ has statements or blocks; Python, prose and shell commands have neither at the ends of their lines.
bool looks_like_code(std::string_view text) {
  return text.find(';') != text.npos && text.find('{') != text.npos && text.find("import torch") == text.npos &&
         text.find("@triton.jit") == text.npos;
}

bool begins_like_code(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  if (at == text.npos) return false;
  constexpr std::array<std::string_view, 13> kBeginnings = {"#",      "//",      "/*",        "template", "namespace",
                                                            "extern", "static",  "constexpr", "using",    "inline",
                                                            "void",   "typedef", "__global__"};
  return std::ranges::any_of(kBeginnings, [&](std::string_view word) { return text.substr(at).starts_with(word); });
}

// The file that is meant: the longest that names the entry, else the longest.
const FencedBlock* choose_file(const std::vector<FencedBlock>& blocks, std::string_view entry) {
  const auto rank = [&](const FencedBlock& block) {
    const bool names = !entry.empty() && block.text.find(entry) != std::string::npos;
    return std::pair(names, block.text.size());
  };
  const FencedBlock* best = nullptr;
  for (const FencedBlock& block : blocks)
    if (is_this_language(block.language) && looks_like_code(block.text) && (!best || rank(block) > rank(*best)))
      best = &block;
  return best;
}

std::string last_name(std::string_view entry) {
  const std::size_t colons = entry.rfind("::");
  return std::string(colons == entry.npos ? entry : entry.substr(colons + 2));
}

// Takes the code of a text into the answer. Nothing is changed if there is none.
std::expected<void, AnswerProblem> read_code(std::string_view text, std::string_view entry, Answer& answer) {
  CodeBlocks blocks = read_code_blocks(text);
  if (!blocks.problem.empty()) return problem(AnswerError::truncated, blocks.problem);
  for (const FencedBlock& block : blocks.fenced) {
    const bool diff = block.language == "diff" || block.language == "patch" || block.text.starts_with("--- ") ||
                      block.text.starts_with("@@ ");
    if (!diff) continue;
    if (!block.closed) return problem(AnswerError::truncated, "the diff has no closing fence: the answer was cut off");
    std::ranges::move(edits_of_diff(block.text), std::back_inserter(blocks.edits));
  }
  if (!blocks.edits.empty()) {
    answer.edits = std::move(blocks.edits);
    return {};
  }
  if (const FencedBlock* file = choose_file(blocks.fenced, last_name(entry))) {
    if (!file->closed)
      return problem(AnswerError::truncated,
                     "the file has no closing fence: the answer was cut off; answer with edits instead");
    answer.source = file->text;
    return {};
  }
  for (const FencedBlock& block : blocks.fenced)
    if (!is_blank(block.text) && block.language != "json")
      return problem(AnswerError::wrong_language,
                     fmt::format("the code block ({}) holds no C++ or CUDA C++ source",
                                 block.language.empty() ? "no language named" : util::clean(block.language, 30)));
  if (begins_like_code(blocks.unfenced) && looks_like_code(blocks.unfenced)) answer.source = blocks.unfenced;
  return {};
}

void make_plain(Answer& answer) {
  for (Edit& edit : answer.edits) edit = {plain_code(edit.search), plain_code(edit.replace)};
  if (answer.source) answer.source = plain_code(*answer.source);
}

}  // namespace

std::string_view name(AnswerError error) {
  switch (error) {
    case AnswerError::empty:
      return "empty";
    case AnswerError::too_large:
      return "too_large";
    case AnswerError::no_object:
      return "no_object";
    case AnswerError::truncated:
      return "truncated";
    case AnswerError::invalid_json:
      return "invalid_json";
    case AnswerError::invalid_member:
      return "invalid_member";
    case AnswerError::no_code:
      return "no_code";
    case AnswerError::wrong_language:
      return "wrong_language";
  }
  return "";
}

std::expected<Answer, AnswerProblem> parse_answer(std::string_view raw, std::string_view entry) {
  if (raw.size() > kLargestAnswer)
    return problem(
        AnswerError::too_large,
        fmt::format("the answer has {} bytes; at most {} are read: answer with edits", raw.size(), kLargestAnswer));
  const std::string clean = util::clean(raw, 4 * kLargestAnswer);
  const std::string_view text = without_reasoning(clean);
  if (is_blank(text)) return problem(AnswerError::empty, "the answer is empty");
  auto found = find_object(text);
  if (!found) return std::unexpected(std::move(found).error());
  Answer& answer = found->answer;
  if (answer.edits.empty() && !answer.source) {
    // Behind the object, where it was asked for; else in front of it.
    const std::string_view head = text.substr(0, found->begin), tail = text.substr(found->end);
    for (const std::string_view part : {behind_fence(head, tail), head}) {
      if (auto read = read_code(part, entry, answer); !read) return std::unexpected(std::move(read).error());
      if (!answer.edits.empty() || answer.source) break;
    }
  } else if (answer.source && !looks_like_code(*answer.source)) {
    return problem(AnswerError::wrong_language, "\"source\" holds no C++ or CUDA C++ source");
  }
  if (answer.source) answer.edits.clear();
  if (answer.edits.empty() && !answer.source && !answer.hard)
    return problem(AnswerError::no_code,
                   "there is no code; put search/replace blocks or the whole file behind the object");
  make_plain(answer);
  return std::move(answer);
}

}  // namespace kagent::proposer
