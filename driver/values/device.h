// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace kagent {

// One GPU, as the driver reports it.
struct Device {
  int index = 0;
  std::string uuid;          // "GPU-5f3c..."
  std::string name;          // "NVIDIA H200"
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0, l2_bytes = 0;
  std::int64_t shared_bytes_per_block = 0;  // the most a block may ask for
  std::int64_t shared_bytes_per_multiprocessor = 0;
  int registers_per_multiprocessor = 0, registers_per_block = 0;
  int threads_per_multiprocessor = 0, blocks_per_multiprocessor = 0;
  int clock_khz = 0, memory_clock_khz = 0, memory_bus_bits = 0;
  int driver_version = 0;  // the CUDA version that the driver supports: 13000

  std::string architecture() const { return "sm_" + std::to_string(10 * major + minor); }
  // Whether code made for this architecture alone runs here; "sm_90a" and "sm_90f" are of sm_90.
  bool runs(std::string wanted) const {
    if (!wanted.empty() && (wanted.back() == 'a' || wanted.back() == 'f')) wanted.pop_back();
    return architecture() == wanted;
  }
  // The driver's, for people: "13.0".
  std::string cuda_version() const {
    return std::to_string(driver_version / 1000) + "." + std::to_string(driver_version % 1000 / 10);
  }
};

// What a GPU was doing at one moment. Zero where the management library does not say.
struct DeviceState {
  int clock_mhz = 0, memory_clock_mhz = 0;
  std::uint64_t throttle_reasons = 0;  // bits of NVML: 1 idle, 4 power cap, 8 hardware slowdown, 0x20 and 0x40 thermal
  int temperature_celsius = 0;
  int power_milliwatts = 0;
  int compute_processes = 0;  // that have a context on it, whosever they are
  int other_processes = 0;    // of these, as many as are not this program's own

  // Whether a time measured now says less than usual about the code: anything but idling or a chosen clock slows it.
  bool is_throttled() const { return (throttle_reasons & ~std::uint64_t{0x3}) != 0; }
};

// What one kernel of a binary takes on the device, as the assembler reports it.
struct DeviceUsage {
  std::string kernel;             // readable name
  int registers = 0;              // a thread
  std::int64_t shared_bytes = 0;  // static, a block
  std::int64_t stack_bytes = 0, spill_store_bytes = 0, spill_load_bytes = 0;
  int barriers = 0;
};

}  // namespace kagent
