// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proposer/edits.h"

namespace kagent::proposer {

// A text between two fences (``` or ~~~).
struct FencedBlock {
  std::string language;  // first word behind the opening fence, in lower case
  std::string text;
  bool closed = true;
};

// The code in an answer, its JSON object left out.
struct CodeBlocks {
  std::vector<Edit> edits;          // search/replace blocks, inside of fences or not
  std::vector<FencedBlock> fenced;  // those that hold no search/replace blocks
  std::string unfenced;             // everything outside of fences and blocks
  std::string problem;              // of a search/replace block that has no end or no middle
};

// One pass, line by line.
CodeBlocks read_code_blocks(std::string_view text);

// What stands behind an object that ends at the beginning of `tail`: where the object stood in a fence of its own,
// `head` left that fence open, and its end is passed.
std::string_view behind_fence(std::string_view head, std::string_view tail);

// A unified diff as edits, a hunk each; line numbers do not count. Empty if it is none.
std::vector<Edit> edits_of_diff(std::string_view diff);

// Typographic quotes, blanks and invisible characters as a compiler wants them.
std::string plain_code(std::string_view text);

}  // namespace kagent::proposer
