// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "values/candidate.h"

namespace kagent {

// The same for a candidate and its corrections, which have the same parents and say the same of what was changed and
// why; another for everything else. Empty where nothing says why.
std::string idea_of(const Candidate& candidate);

}  // namespace kagent
