// SPDX-License-Identifier: Apache-2.0
#include "loop/cuda_platform.h"

#include <cstdlib>
#include <string_view>

#include <fmt/core.h>

#include "build_step/launcher_source.h"
#include "runner/cuda_runner.h"
#include "toolchain/host_toolchain.h"
#include "toolchain/nvrtc_toolchain.h"
#include "util/subprocess.h"
#include "values/kernel_spec.h"

namespace kagent::loop {
namespace {

namespace fs = std::filesystem;

// What lies beside the host's runtime in an installation and in a build tree alike.
struct CudaTools {
  fs::path runtime, kernel_runner, nvrtc_worker;
};

Result<CudaTools> find_cuda_tools(const fs::path& host_runtime) {
  const fs::path libraries = host_runtime.parent_path();
  const fs::path programs = libraries.parent_path().parent_path() / "libexec/kagent";
  CudaTools tools{libraries / "libkagent_cuda_runner.a", programs / "kagent-cuda-runner",
                  programs / "kagent-nvrtc-worker"};
  std::error_code error;
  for (const fs::path& file : {tools.runtime, tools.kernel_runner, tools.nvrtc_worker})
    if (!fs::exists(file, error))
      return failure(fmt::format("this kagent was built without CUDA: there is no {}", file.string()),
                     "build kagent where the CUDA Toolkit is installed (-DKAGENT_CUDA=ON)");
  return tools;
}

Result<Device> find_device(const fs::path& kernel_runner, const std::string& architecture) {
  auto devices = runner::probe_devices(kernel_runner);
  if (!devices) return std::unexpected(devices.error());
  std::string seen;
  for (const Device& device : *devices) {
    if (device.runs(architecture)) return device;
    seen += (seen.empty() ? "" : ", ") + fmt::format("{} ({})", device.name, device.architecture());
  }
  return failure(fmt::format("this machine has no GPU of {}: it has {}", architecture, seen),
                 "tune where such a GPU is; builds here pick among the variants that exist (TUNE PICK)");
}

// The compiler that nvcc would call: its -ccbin, else the system's.
fs::path host_compiler(const toolchain::CompileCommand& command) {
  constexpr std::string_view kNames[]{"-ccbin", "--compiler-bindir"};
  for (std::size_t i = 0; i < command.options.size(); ++i)
    for (const std::string_view name : kNames) {
      const std::string& option = command.options[i];
      if (option == name && i + 1 < command.options.size()) return command.options[i + 1];
      if (option.starts_with(std::string(name) + "=")) return option.substr(name.size() + 1);
    }
  const char* path = std::getenv("PATH");
  return util::find_program("c++", path ? path : "/usr/bin:/bin");
}

std::string describe(const Device& device) {
  return fmt::format("{}, {} multiprocessors, {}, CUDA {}", device.name, device.multiprocessors, device.architecture(),
                     device.cuda_version());
}

toolchain::NvrtcToolchainOptions quick_options(const build_step::KernelContext& context,
                                               const toolchain::HostToolchainOptions& common, const fs::path& worker) {
  toolchain::NvrtcToolchainOptions options;
  options.command = common.command;
  options.source = common.source;
  options.worker = worker;
  options.entry = common.entry;
  options.parameters = common.parameters;
  options.architecture = context.architecture;
  options.visible = common.visible;
  options.covered = common.covered;
  options.allow_unsandboxed = common.allow_unsandboxed;
  return options;
}

}  // namespace

Result<toolchain::CudaToolchainOptions> cuda_toolchain_options(const build_step::KernelContext& context,
                                                               const WorkbenchOptions& options) {
  const auto tools = find_cuda_tools(options.runtime);
  if (!tools) return std::unexpected(tools.error());
  toolchain::CudaToolchainOptions result;
  const auto limit = result.time_limit;
  static_cast<toolchain::ProgramOptions&>(result) = host_toolchain_options(context, options);
  result.time_limit = limit;
  result.runtime = tools->runtime;
  result.architecture = context.architecture;
  if (context.spec.style == Style::kernel) {
    const KernelSpec launcher = build_step::as_launcher(context.spec);
    result.entry = launcher.entry;
    result.parameters = launcher.parameters;
  }
  return result;
}

Result<Platform> open_cuda_platform(const build_step::KernelContext& context, const WorkbenchOptions& options) {
  const auto tools = find_cuda_tools(options.runtime);
  if (!tools) return std::unexpected(tools.error());
  if (const auto conflict = build_step::architecture_conflict(context))
    return failure(conflict->message, conflict->fix);
  auto device = find_device(tools->kernel_runner, context.architecture);
  if (!device) return std::unexpected(device.error());

  auto as_built = cuda_toolchain_options(context, options);
  if (!as_built) return std::unexpected(as_built.error());
  const toolchain::HostToolchainOptions common = host_toolchain_options(context, options);
  Platform platform;
  toolchain::CudaToolchainOptions with_lines = *as_built;
  with_lines.command.options.emplace_back("-lineinfo");
  platform.line_toolchain = toolchain::make_cuda_toolchain(std::move(with_lines));
  platform.toolchain = toolchain::make_cuda_toolchain(*std::move(as_built));
  if (context.spec.style == Style::kernel)
    platform.quick_toolchain = toolchain::make_nvrtc_toolchain(quick_options(context, common, tools->nvrtc_worker));
  if (context.spec.reference) {
    toolchain::HostToolchainOptions host = common;
    host.command.compiler = host_compiler(context.command);
    host.command.options.clear();
    if (const std::string standard = context.command.standard(); standard != "default")
      host.command.options.push_back("-std=" + standard);
    platform.reference_toolchain =
        toolchain::make_host_toolchain(toolchain::reference_options(host, *context.spec.reference));
  }
  platform.runner = runner::make_cuda_runner({.device = *device, .kernel_runner = tools->kernel_runner});
  platform.reference_runner = runner::make_host_runner();
  platform.device = describe(*device);
  platform.ceilings = [program = tools->kernel_runner, uuid = device->uuid] {
    const auto rates = runner::measure_rates(program, uuid);
    if (!rates) return profiler::Ceilings{};
    return profiler::Ceilings{.flops_per_s = rates->flops_per_s,
                              .bytes_per_s = rates->bytes_per_s,
                              .half_flops_per_s = rates->half_flops_per_s,
                              .tensor_flops_per_s = rates->tensor_flops_per_s,
                              .launch_s = rates->launch_s};
  };
  platform.kernel_runner = tools->kernel_runner;
  platform.gpu = std::move(*device);
  return platform;
}

}  // namespace kagent::loop
