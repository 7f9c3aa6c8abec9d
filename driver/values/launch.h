// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "values/expression.h"

namespace kagent {

// How a kernel of style "kernel" is launched: expressions over the sizes and the tunables, evaluated at each launch.
struct Launch {
  std::array<Expression, 3> grid;                    // blocks; a launch with an extent of 0 is left out
  std::array<Expression, 3> block;                   // threads
  std::optional<std::array<Expression, 3>> cluster;  // blocks of a thread block cluster (sm_90 and later)
  std::optional<Expression> shared_memory;           // dynamic, in bytes; beyond 48 KiB the limit is raised
  // Name expression of a template's instance, such as "softmax_rows<float, BLOCK>"; tunables are written as macros.
  // Empty: the entry itself.
  std::string instance;
};

// All expressions that there are, always in the same order.
std::vector<const Expression*> expressions_of(const Launch& launch);
// Names that they use.
std::set<std::string> names_of(const Launch& launch);

}  // namespace kagent
