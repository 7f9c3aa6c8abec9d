// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "profiler/patterns.h"
#include "values/device.h"

namespace kagent::profiler {

inline constexpr int kWarpThreads = 32;

// How a kernel is launched on a case.
struct LaunchShape {
  std::int64_t block_threads = 0, blocks = 0;
  std::int64_t shared_bytes = 0;  // dynamic, a block
};

// The share of a multiprocessor's warps that each limit alone would allow: for blocks as they are launched where that
// is known, else for the blocks that make the most of it. With the launch, also how often its blocks fill the device,
// and what the last time leaves empty. `shared_bytes`: static, a block.
Numbers occupancy(const Device& device, int registers, std::int64_t shared_bytes,
                  const std::optional<LaunchShape>& shape);

}  // namespace kagent::profiler
