// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "values/candidate.h"
#include "values/error.h"
#include "values/kernel_spec.h"
#include "values/trial.h"

namespace kagent::loop {

// Up to `count` new candidates with the source and launch of `base` and other values of its tunables: the spec's and
// its own. What the history knows of this source is learnt from. None where there is nothing (left) to vary. An error
// says what is wrong with tunables or constraints of its own.
Result<std::vector<Candidate>> numeric_candidates(const Candidate& base, const KernelSpec& spec,
                                                  const std::vector<Trial>& history, int count, std::uint64_t seed);

// Gives the tunables that a candidate brought itself first values, as far as it has none: such that the constraints
// hold, where that can be found.
void complete_tunables(Candidate& candidate, const KernelSpec& spec);

// Whether two candidates differ in the values of their tunables alone.
bool same_family(const Candidate& a, const Candidate& b);

}  // namespace kagent::loop
