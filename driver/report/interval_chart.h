// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "values/decision.h"

namespace kagent::report {

// Range of speedups that intervals are drawn over, on a logarithmic axis; contains 1.
struct SpeedupRange {
  double least = 0.9, most = 1.1;
};
// The range that all finite intervals of the cases fit in, with a margin.
SpeedupRange range_of(const std::vector<CaseRatio>& cases);

// One interval as inline SVG: a line from end to end, a dot at the speedup, a mark at 1 (no change). Without the
// interval where it is not finite and positive.
std::string interval_svg(const CaseRatio& one, const SpeedupRange& range);

}  // namespace kagent::report
