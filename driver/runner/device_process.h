// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runner/cuda_runner.h"
#include "runner/runner_process.h"
#include "values/binary.h"

namespace kagent::runner {

// A process that runs device code, and what its guards are made of.
struct DeviceProcess {
  RunnerProcess process;
  std::uint64_t sentinel_seed = 0;
};

// How such processes are started: the sandbox, the filters, the environment.
class DeviceProcesses {
 public:
  explicit DeviceProcesses(const CudaRunnerOptions& options);

  // Returns before its context has been made.
  Result<DeviceProcess> start(const std::filesystem::path& program, const RunnerLimits& limits) const;
  // Under a tool that needs more of the system than a candidate gets: `words` stand before the program, `also` is in
  // its view. No system call filter holds.
  Result<DeviceProcess> start_under(const std::vector<std::string>& words,
                                    const std::vector<std::filesystem::path>& also,
                                    const std::filesystem::path& program, const RunnerLimits& limits) const;

  // How many live; those that have not made their context yet are counted too.
  std::shared_ptr<const std::atomic<int>> own_processes() const { return own_processes_; }

 private:
  Result<DeviceProcess> start(std::vector<std::string> words, const std::vector<std::filesystem::path>& also,
                              const std::filesystem::path& program, const RunnerLimits& limits, bool filtered) const;

  CudaRunnerOptions options_;
  Result<std::string> start_filter_, call_filter_;
  std::vector<std::string> environment_;
  std::shared_ptr<std::atomic<int>> own_processes_ = std::make_shared<std::atomic<int>>(0);
};

// Hands a cubin over to a process of kagent-cuda-runner. Outcome other than ok: it cannot be loaded on this device, or
// has not the entry or a __constant__ that it should have.
Result<RunResult> load_module(RunnerProcess& process, const Binary& binary, const std::vector<Parameter>& parameters);

}  // namespace kagent::runner
