// SPDX-License-Identifier: Apache-2.0
#include "values/candidate.h"

namespace kagent {
namespace {

std::string list(const std::array<Expression, 3>& extents) {
  return "(" + extents[0].text() + ", " + extents[1].text() + ", " + extents[2].text() + ")";
}

std::string comment(const Launch& launch) {
  std::string text = "// launch: grid " + list(launch.grid) + ", block " + list(launch.block);
  if (launch.cluster) text += ", cluster " + list(*launch.cluster);
  if (launch.shared_memory) text += ", shared memory " + launch.shared_memory->text();
  if (!launch.instance.empty()) text += ", instance " + launch.instance;
  return text + "\n";
}

}  // namespace

std::string render(const Candidate& candidate, const std::string& source_name) {
  std::string text;
  // The build's command line may define them too.
  for (const auto& [name, value] : candidate.tunables)
    text += "#undef " + name + "\n#define " + name + " " + std::to_string(value) + "\n";
  if (candidate.launch) text += comment(*candidate.launch);
  // Diagnostics and debuggers then count lines as the proposer sees them.
  if (!text.empty()) text += "#line 1 \"" + source_name + "\"\n";
  return text + candidate.source;
}

}  // namespace kagent
