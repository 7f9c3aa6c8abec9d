// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace kagent::proposer {

// One search/replace block: `search` stands in the source once, and gives way to `replace`.
struct Edit {
  std::string search;
  std::string replace;
};

enum class EditError {
  empty_search,     // of a source that is not empty
  not_found,        // `nearest` says what comes closest
  ambiguous,        // `lines` says where it stands
  overlapping,      // with the edit before it in the source
  too_many,         // more places than the rules allow
  nothing_changed,  // the edited source is the source
  too_large,        // a search or the result is beyond any kernel's size
};

std::string_view name(EditError error);

// What in the source comes closest to a search that was not found.
struct NearestMatch {
  int line = 0;           // from 1; 0: nothing is near
  std::string text;       // as it stands in the source, cut to a page
  double similarity = 0;  // 1 less the edit distance in words over the longer length
};

// Why edits were not applied; none of them was.
struct EditProblem {
  EditError error = EditError::not_found;
  std::size_t edit = 0;    // index of the edit; of overlapping ones the second
  std::vector<int> lines;  // ambiguous: where each match begins, from 1, at most 20
  NearestMatch nearest;
  std::string message;  // for the model that wrote it: what is wrong and what to write instead
};

struct EditLimits {
  int max_edits = 100;
  std::size_t max_bytes = 256 * 1024;  // of the result
  std::size_t* steps = nullptr;        // counts words looked at: work is bounded, whatever the input
};

// Applies all edits to the source or none. Each is looked for in the source as given, so their order is without
// meaning: as whole lines, then as whole lines with layout and blank lines overlooked, in which case the replacement is
// indented as what it replaces, then as a part of a line. Text outside of the matches stays byte for byte; new lines
// end as the source's do.
std::expected<std::string, EditProblem> apply_edits(std::string_view source, const std::vector<Edit>& edits,
                                                    const EditLimits& limits = {});

}  // namespace kagent::proposer
