// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_runtime/nvml.h"

#include <dlfcn.h>

namespace kagent::runner::cuda {

namespace {

// Values of nvml.h, whose interface is kept stable.
constexpr int kSuccess = 0, kInsufficientSize = 7;
constexpr int kClockOfMultiprocessors = 1, kClockOfMemory = 2;
constexpr int kTemperatureOfDevice = 0;
constexpr unsigned kMostProcesses = 128;

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned instance, compute_instance;
};

template <class Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

}  // namespace

bool Nvml::open(const char* uuid, Line& why) {
  library_ = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    why << "the management library cannot be loaded: " << ::dlerror();
    return false;
  }
  const auto initialise = find<int()>(library_, "nvmlInit_v2");
  const auto handle = find<int(const char*, void**)>(library_, "nvmlDeviceGetHandleByUUID");
  const auto text = find<const char*(int)>(library_, "nvmlErrorString");
  if (initialise == nullptr || handle == nullptr) {
    why << "libnvidia-ml.so.1 has no nvmlInit_v2 or nvmlDeviceGetHandleByUUID";
    return false;
  }
  const char* step = "nvmlInit_v2";
  int result = initialise();
  if (result == kSuccess) {
    step = "nvmlDeviceGetHandleByUUID";
    result = handle(uuid, &device_);
  }
  if (result == kSuccess) return true;
  why << step << ": " << (text != nullptr ? text(result) : "error") << " (" << static_cast<unsigned long long>(result)
      << ")";
  return false;
}

protocol::StateReply Nvml::state() const {
  protocol::StateReply state{};
  if (const auto clock = find<int(void*, int, unsigned*)>(library_, "nvmlDeviceGetClockInfo")) {
    clock(device_, kClockOfMultiprocessors, &state.clock_mhz);
    clock(device_, kClockOfMemory, &state.memory_clock_mhz);
  }
  if (const auto reasons =
          find<int(void*, unsigned long long*)>(library_, "nvmlDeviceGetCurrentClocksThrottleReasons")) {
    unsigned long long bits = 0;
    if (reasons(device_, &bits) == kSuccess) state.throttle_reasons = bits;
  }
  if (const auto temperature = find<int(void*, int, unsigned*)>(library_, "nvmlDeviceGetTemperature"))
    temperature(device_, kTemperatureOfDevice, &state.temperature_celsius);
  if (const auto power = find<int(void*, unsigned*)>(library_, "nvmlDeviceGetPowerUsage"))
    power(device_, &state.power_milliwatts);
  if (const auto processes =
          find<int(void*, unsigned*, ProcessInfo*)>(library_, "nvmlDeviceGetComputeRunningProcesses_v3")) {
    static ProcessInfo found[kMostProcesses];
    unsigned count = kMostProcesses;
    const int result = processes(device_, &count, found);
    if (result == kSuccess || result == kInsufficientSize) state.compute_processes = count;
  }
  return state;
}

}  // namespace kagent::runner::cuda
