// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace kagent {

// What a model's answers were good for; each number but `read` counts some of those counted before it.
struct AnswerCounts {
  int asked = 0;                    // candidates that it was asked for
  int read = 0;                     // whose answer could be read and applied at once, without asking again
  int applied = 0;                  // that came of the answers, corrected ones included
  int compiled = 0;                 // that compiled in the end, repaired ones included
  int passed = 0;                   // whose results were right
  std::map<std::string, int> lost;  // why an answer brought no candidate: "truncated", "near_duplicate", ...

  AnswerCounts& operator+=(const AnswerCounts& other);
};

}  // namespace kagent
