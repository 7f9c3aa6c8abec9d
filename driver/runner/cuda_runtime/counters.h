// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <cuda.h>

namespace kagent::runner::cuda {

// Hardware counters through CUPTI's range profiler, which is loaded when it is first asked for: a machine without it
// only gets no counters. Metrics have CUPTI's own names.

struct CounterReadings {
  std::vector<std::map<std::string, double>> kernels;  // each kernel of the call, in the order of launching
  std::string problem;                                 // why there are none; empty if there are some
};
// The counters of each kernel that `call` launches in the current context, at most kMostKernels of them. A kernel is
// replayed by CUPTI, which restores what it wrote: `call` itself is made once. It has to end with a synchronisation.
inline constexpr std::size_t kMostKernels = 32;
CounterReadings read_counters(CUcontext context, const std::vector<std::string>& metrics,
                              const std::function<void()>& call);

}  // namespace kagent::runner::cuda
