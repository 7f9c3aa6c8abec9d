// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runner/runner.h"
#include "util/sandbox.h"
#include "values/device.h"
#include "values/error.h"

namespace kagent::runner {

// The program that runs device code and knows about devices: libexec/kagent/kagent-cuda-runner. The driver itself loads
// no library of CUDA's.

// Every GPU that CUDA shows here, CUDA_VISIBLE_DEVICES heeded. An error says why there is none, and what to do: no
// driver, a driver too old for the toolkit that kagent was built with, no device, device nodes that cannot be opened.
Result<std::vector<Device>> probe_devices(const std::filesystem::path& kernel_runner);

// What the first GPU of CUDA_VISIBLE_DEVICES can do at most, measured now: read + written bytes of a copy, fp32
// and fp16 multiply-adds, fp16 products on tensor cores; and how long it takes at least to launch a kernel. Takes about
// a second.
struct DeviceRates {
  double bytes_per_s = 0, flops_per_s = 0, half_flops_per_s = 0, tensor_flops_per_s = 0, launch_s = 0;
};
Result<DeviceRates> measure_rates(const std::filesystem::path& kernel_runner, const std::string& uuid);

struct CudaRunnerOptions {
  Device device;
  std::filesystem::path kernel_runner;  // the program above
  util::SandboxState sandbox = util::sandbox_state();
  int warm = 3;  // processes kept ready for binaries of style kernel, since a context costs 0.3 s
  // Where CUPTI is, for processes that read counters or trace; empty: in the toolkit that kagent was built with.
  std::filesystem::path profiler = {};
  // How often the device's state is looked at while samples are taken; 0 means never.
  std::chrono::milliseconds look{20};
};

// Runs CUDA code on one GPU. A binary with a cubin goes into a trusted process that holds no code of the candidate's on
// the host's side, and is replaced after any error of the device; a binary with an executable is a process of its own.
// Safe to call from several threads; whoever measures holds the device's lane.
std::unique_ptr<Runner> make_cuda_runner(const CudaRunnerOptions& options);

}  // namespace kagent::runner
