// SPDX-License-Identifier: Apache-2.0
#include "values/candidate.h"

namespace kagent {

std::string render(const Candidate& candidate, const std::string& source_name) {
  std::string text;
  for (const auto& [name, value] : candidate.tunables) text += "#define " + name + " " + std::to_string(value) + "\n";
  // Diagnostics and debuggers then count lines as the proposer sees them.
  if (!text.empty()) text += "#line 1 \"" + source_name + "\"\n";
  return text + candidate.source;
}

}  // namespace kagent
