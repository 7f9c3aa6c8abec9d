// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proposer/edits.h"
#include "values/kernel_spec.h"
#include "values/launch.h"

namespace kagent::proposer {

// What a model answered, read: the object of answer.schema.json, and the code that came in it or behind it.
struct Answer {
  std::string bottleneck;
  std::string hypothesis;
  std::string change;
  std::optional<double> expected_speedup;  // over the parent
  bool hard = false;                       // "difficulty": "hard"; a stronger model should write it
  std::vector<Tunable> tunables;           // of its own; the search looks for their values
  std::vector<std::string> constraints;    // over all tunables
  std::optional<Launch> launch;

  std::vector<Edit> edits;
  std::optional<std::string> source;  // a whole file, instead of edits
};

enum class AnswerError {
  empty,           // nothing but blanks
  too_large,       // beyond kLargestAnswer
  no_object,       // no JSON object with the known members
  truncated,       // the object, a block or a file has no end
  invalid_json,    // the object cannot be read
  invalid_member,  // a member has the wrong type or an impossible value
  no_code,         // neither edits nor a file
  wrong_language,  // the code is Python, Rust, ... or prose
};

// The enumerator's own name, as counted and printed.
std::string_view name(AnswerError error);

struct AnswerProblem {
  AnswerError error = AnswerError::empty;
  std::string message;  // for the model that wrote it: what is wrong and what to write instead
};

// A kernel's source and its edits are some ten kilobytes. The rest of a longer answer is not looked at.
inline constexpr std::size_t kLargestAnswer = 1024 * 1024;

// Reads an answer, in one pass whatever it holds: a JSON object, then search/replace blocks, a diff or a whole file, in
// fences or not, with prose around them; or all in the object. Of several objects the last whole one counts, of several
// files the longest that names `entry`.
std::expected<Answer, AnswerProblem> parse_answer(std::string_view text, std::string_view entry = {});

// The text of cmake/answer.schema.json: what the object may hold.
std::string_view answer_schema();
// The same for structured output in strict mode: every member is required, none is added, null stands for none.
std::string strict_answer_schema();

}  // namespace kagent::proposer
