// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/occupancy.h"
#include "profiler/patterns.h"
#include "profiler/roofline.h"
#include "values/bottleneck.h"
#include "values/device.h"
#include "values/error.h"
#include "values/kernel_spec.h"
#include "values/kernel_trace.h"

namespace kagent::profiler {

// What was seen of one timed case: whatever there is of it. Time alone is enough for a summary, if a poor one.
struct Observed {
  std::string case_name;
  Sizes sizes;
  double time_ns = 0;                                  // of a call
  std::vector<std::map<std::string, double>> kernels;  // counters by CUPTI's names, of each kernel of a call
  std::string counters_problem;                        // why there are none
  KernelTrace trace;                                   // CUDA: what one call does on the device
  std::optional<Device> device;                        // CUDA
  std::vector<DeviceUsage> usage;                      // CUDA: a kernel each
  std::optional<LaunchShape> shape;                    // CUDA, where there is one kernel, whose launch is known
  Numbers others;                 // from elsewhere, under short names: of the machine code, of the host's counters
  std::string code, code_reason;  // CUDA: as in Bottleneck
  std::vector<std::string> lines;
};

// Few numbers, what they say, and what is usually done about it. Errors: the spec's work cannot be evaluated.
Result<Bottleneck> summarise(const KernelSpec& spec, const Observed& observed, const Ceilings& ceilings);

}  // namespace kagent::profiler
