// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "values/candidate.h"
#include "values/structure.h"

namespace kagent::proposer {

// The structure of a candidate's source and launch. Tunable values do not count: the search looks for them.
Structure structure_of(const Candidate& candidate);

// How different two structures are, from 0 (the same but for names, comments and layout) to 1: loops, tiling, vector
// width, stages, memory spaces, barriers and launch make up most of it, the words the rest.
double structural_distance(const Structure& a, const Structure& b);

// Index of the first of `known` that `candidate` nearly repeats, or -1: the same but for names, comments and layout, or
// nearly the same change of their parent.
int near_duplicate(const Structure& candidate, const std::vector<Structure>& known, const Structure* parent = nullptr);

}  // namespace kagent::proposer
