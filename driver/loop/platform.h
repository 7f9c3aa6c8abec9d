// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "build_step/kernel_context.h"
#include "profiler/ceilings.h"
#include "runner/runner.h"
#include "toolchain/host_toolchain.h"
#include "toolchain/toolchain.h"
#include "values/device.h"

namespace kagent::loop {

struct WorkbenchOptions {
  std::filesystem::path runtime;       // libkagent_runner.a; what CUDA needs lies beside it, as installed
  std::filesystem::path state_folder;  // trials, candidate folders
  bool allow_unsandboxed = false;
};

// What a kernel's language and style decide: the tools that make its programs, what runs them, and what on.
struct Platform {
  std::unique_ptr<toolchain::Toolchain> toolchain;            // makes exactly what the build makes
  std::unique_ptr<toolchain::Toolchain> quick_toolchain;      // style kernel: device code alone; absent: the same
  std::unique_ptr<toolchain::Toolchain> line_toolchain;       // CUDA: `toolchain` with -lineinfo
  std::unique_ptr<toolchain::Toolchain> reference_toolchain;  // absent where the spec names no reference
  std::unique_ptr<runner::Runner> runner;
  std::unique_ptr<runner::Runner> reference_runner;  // the reference is host code whatever the kernel is
  std::optional<Device> gpu;                         // CUDA: what programs run on
  std::filesystem::path kernel_runner;               // CUDA: kagent-cuda-runner
  std::string device;                                // for records
  std::function<profiler::Ceilings()> ceilings;      // measures what this device can do at most
};

// The platform of this kernel on this machine. Errors: no device of the architecture, a missing tool, with the fix.
Result<Platform> open_platform(const build_step::KernelContext& context, const WorkbenchOptions& options);

// The C++ compiler as the build has it for this kernel, with the folders that a candidate must not see covered.
toolchain::HostToolchainOptions host_toolchain_options(const build_step::KernelContext& context,
                                                       const WorkbenchOptions& options);

}  // namespace kagent::loop
