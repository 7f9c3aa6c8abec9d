// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "values/decision.h"

namespace kagent::judge {

// A location and its confidence interval, of log ratios.
struct Interval {
  double center = 0;
  double low = 0, high = 0;  // infinite while there are fewer than two values
};

// Trimmed mean with the interval of Yuen (1974): a share `trim` of the values is cut at each end, the variance is the
// winsorised one, Student's t has as many degrees of freedom as values are left, less one. trim 0 is the plain t.
Interval trimmed_interval(std::vector<double> values, double trim, double alpha);

// The verdict on an interval of log(candidate / incumbent):
//   faster     the whole interval below 0, and its centre at or below -log(1 + min_gain)
//   slower     the same, mirrored
//   same       the whole interval within +-log(1 + min_gain)
//   ambiguous  anything else
Comparison classify(const Interval& interval, double min_gain);

}  // namespace kagent::judge
