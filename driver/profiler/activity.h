// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/occupancy.h"
#include "profiler/patterns.h"
#include "values/device.h"
#include "values/kernel_trace.h"

namespace kagent::profiler {

// What one kernel takes of a call: its launches of one shape together. Copies and fills are told in the same way.
struct WorkShare {
  TracedWork work;  // the first of them
  std::int64_t launches = 0, time_ns = 0;
  double share = 0;  // of the time of all work
};

// The longest first.
std::vector<WorkShare> shares_of(const KernelTrace& trace);
// The kernel that takes most of the call.
std::optional<WorkShare> longest_kernel(const std::vector<WorkShare>& shares);

LaunchShape launch_shape(const TracedWork& kernel);

// How long the device works for the call (in several streams at once or not), how long it waits in between, what the
// longest kernel and what copies and fills take of it, and what the events that calls are timed by do not see.
// `shares`: shares_of() this trace.
Numbers numbers_of(const KernelTrace& trace, const std::vector<WorkShare>& shares);

// A line for each of the longest, with its launch and what fits on the device: "scale: 62 % of the time on the device,
// 12.3 us; grid 132x1x1 of 256x1x1 threads, 40 registers, ...".
std::vector<std::string> lines_of(const std::vector<WorkShare>& shares, const std::optional<Device>& device);

}  // namespace kagent::profiler
