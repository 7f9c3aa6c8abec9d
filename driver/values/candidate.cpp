// SPDX-License-Identifier: Apache-2.0
#include "values/candidate.h"

namespace kagent {

std::string render(const Candidate& candidate, const std::string& source_name) {
  std::string text;
  // The build's command line may define them too.
  for (const auto& [name, value] : candidate.tunables)
    text += "#undef " + name + "\n#define " + name + " " + std::to_string(value) + "\n";
  // Diagnostics and debuggers then count lines as the proposer sees them.
  if (!text.empty()) text += "#line 1 \"" + source_name + "\"\n";
  return text + candidate.source;
}

}  // namespace kagent
