// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace kagent {

enum class WorkKind { kernel, copy, fill };

// One piece of work of a call, as it was seen on the GPU while it ran.
struct TracedWork {
  WorkKind kind = WorkKind::kernel;
  std::string name;                                                // a kernel's readable one, without its parameters
  std::int64_t begin_ns = 0, end_ns = 0;                           // since the first of the call began
  std::array<std::int64_t, 3> grid{}, block{};                     // of kernels, as all that follows
  std::array<std::int64_t, 3> cluster{};                           // all 0: none
  std::int64_t registers = 0;                                      // a thread
  std::int64_t static_shared_bytes = 0, dynamic_shared_bytes = 0;  // a block
  std::int64_t local_bytes = 0;                                    // a thread: its stack, spilled registers and arrays
};

// What one call did on the GPU: in all streams, those that its caller does not know of too.
struct KernelTrace {
  std::vector<TracedWork> work;  // in the order of beginning
  double event_ns = 0;           // of the same call, between the events that calls are timed by
  std::string problem;           // why there is nothing
};

}  // namespace kagent
