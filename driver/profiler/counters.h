// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profiler/patterns.h"

namespace kagent::profiler {

// CUPTI's metrics that a bottleneck is told by: few, since each pass replays the kernel. They exist on GA100, GH100 and
// GB100, and take 13 passes on GH100.
const std::vector<std::string>& wanted_counters();

// The counters of one kernel, or of several that one call launches, under short names. What is counted is summed up;
// shares and ratios are averages, weighted by the kernels' times.
Numbers numbers_of(const std::vector<std::map<std::string, double>>& kernels);

// Of one call of host code, by the names of wanted_host_counters(), under short names: instructions a cycle, shares of
// misses. `time_ns` is that of the call; what follows from counters that are not known is left out.
Numbers host_numbers_of(const std::map<std::string, double>& counters, double time_ns);

}  // namespace kagent::profiler
