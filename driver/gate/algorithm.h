// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "gate/gate.h"
#include "values/structure.h"

namespace kagent::gate {

// What makes a candidate another algorithm than the sources that it comes from, the parent first: functions of
// mathematics that none of them uses or that the parent no longer would be without, number types with fewer bits than
// any of theirs, recursion, atomics, sorting, containers or allocation that none of them has, and no loop left at all.
// Tiling, unrolling, vector access, staging, splitting and fusing loops or kernels leave all of these as they are.
std::vector<Rejection> inspect_algorithm(const Structure& candidate, const std::vector<Structure>& known,
                                         const KernelSpec& spec);

}  // namespace kagent::gate
