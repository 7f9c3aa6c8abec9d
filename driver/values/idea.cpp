// SPDX-License-Identifier: Apache-2.0
#include "values/idea.h"

namespace kagent {

std::string idea_of(const Candidate& candidate) {
  if (candidate.hypothesis.empty()) return {};
  std::string idea = candidate.hypothesis;
  for (const std::string& part : {candidate.change, candidate.parent, candidate.second_parent, candidate.proposer})
    idea += '\0' + part;
  return idea;
}

}  // namespace kagent
