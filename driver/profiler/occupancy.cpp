// SPDX-License-Identifier: Apache-2.0
#include "profiler/occupancy.h"

#include <algorithm>
#include <cmath>

namespace kagent::profiler {
namespace {

// A block's registers are given out in units of this many a warp.
constexpr int kRegisterUnit = 256;
constexpr std::int64_t kLargestBlock = 1024;
// Of each block's shared memory, for the system (CUDA C++ Programming Guide, 'Compute Capability 8.x').
constexpr std::int64_t kReservedSharedBytes = 1024;

// How often the blocks fill the device's `places` for them, and the share of places that is empty in these times.
void add_waves(std::int64_t blocks, double places, Numbers& numbers) {
  if (!(places > 0) || blocks <= 0) return;
  const double waves = static_cast<double>(blocks) / places;
  numbers["waves"] = waves;
  numbers["tail_pct"] = 100 * (1 - waves / std::ceil(waves));
}

}  // namespace

Numbers occupancy(const Device& device, int registers, std::int64_t shared_bytes,
                  const std::optional<LaunchShape>& shape) {
  Numbers numbers;
  if (device.threads_per_multiprocessor <= 0) return numbers;
  const double warps = device.threads_per_multiprocessor / static_cast<double>(kWarpThreads);
  const auto share = [&](double resident) { return 100 * std::min(1.0, resident / warps); };
  const std::int64_t threads = shape ? std::max<std::int64_t>(1, shape->block_threads) : kLargestBlock;
  const std::int64_t block_warps = (threads + kWarpThreads - 1) / kWarpThreads;
  // As many blocks as have room for all of their threads.
  double least =
      shape ? share(std::floor(warps / static_cast<double>(block_warps)) * static_cast<double>(block_warps)) : 100;
  const auto limit = [&](const char* name, double resident) {
    numbers[name] = share(resident);
    least = std::min(least, share(resident));
  };
  const int per_warp = (registers * kWarpThreads + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
  if (per_warp > 0) {
    const std::int64_t resident = device.registers_per_multiprocessor / per_warp;
    limit("occupancy_by_registers_pct", static_cast<double>(shape ? resident / block_warps * block_warps : resident));
  }
  const std::int64_t shared = shared_bytes + (shape ? shape->shared_bytes : 0);
  if (shared > 0) {
    const std::int64_t blocks = device.shared_bytes_per_multiprocessor / (shared + kReservedSharedBytes);
    numbers["occupancy_by_shared_blocks"] = static_cast<double>(blocks);
    limit("occupancy_by_shared_pct", static_cast<double>(blocks * block_warps));
  }
  if (!shape) return numbers;
  numbers["block_threads"] = static_cast<double>(threads);
  numbers["shared_bytes"] = static_cast<double>(shared);
  if (device.blocks_per_multiprocessor > 0)
    limit("occupancy_by_blocks_pct", static_cast<double>(device.blocks_per_multiprocessor * block_warps));
  numbers["occupancy_pct"] = least;
  add_waves(shape->blocks, std::floor(least / 100 * warps / static_cast<double>(block_warps)) * device.multiprocessors,
            numbers);
  return numbers;
}

}  // namespace kagent::profiler
