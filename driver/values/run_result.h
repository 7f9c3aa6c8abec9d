// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "values/device.h"
#include "values/outcome.h"
#include "values/tensor.h"

namespace kagent {

// What one step in a runner process gave. Outcome other than ok: the process is gone, `detail` says how.
struct RunResult {
  Outcome outcome = Outcome::ok;
  std::string detail;                       // "SIGSEGV at 0x7f...", "called socket()", "no answer within 10 s"
  std::chrono::nanoseconds child_time{0};   // as the runner's clock saw the call(s)
  std::chrono::nanoseconds driver_time{0};  // as the driver's clock saw the step, its overhead included
  // Of samples on a GPU.
  bool by_graph = false;                         // the calls were one graph; else they were launched one by one
  std::optional<DeviceState> device_state = {};  // as it was last seen, at most some 20 ms before or right after
};

// Contents of the buffers after a call, as raw bytes with their guards.
struct BufferImage {
  std::string parameter;
  Tensor contents;
  bool guards_intact = true;      // sentinels of 4 KiB on both sides
  std::int64_t first_damage = 0;  // offset in bytes of the first damaged guard byte relative to the buffer's start
};

}  // namespace kagent
