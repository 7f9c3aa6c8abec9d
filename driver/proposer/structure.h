// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "values/candidate.h"
#include "values/structure.h"

namespace kagent::proposer {

// The structure of a candidate's source and launch. Tunable values do not count: the search looks for them.
Structure structure_of(const Candidate& candidate);

// How different two structures are, from 0 (the same but for names, comments and layout) to 1: loops, tiling, vector
// width, stages, memory spaces, barriers and launch count for most of it, the sequence of words for the rest.
double structural_distance(const Structure& a, const Structure& b);

// Closer than this, two candidates of one round are one idea.
inline constexpr double kNearDuplicate = 0.02;

// Index of the first of `known` that `candidate` nearly repeats, or -1.
int near_duplicate(const Structure& candidate, const std::vector<Structure>& known);

}  // namespace kagent::proposer
