// SPDX-License-Identifier: Apache-2.0
#include "loop/platform.h"

#include "loop/cuda_platform.h"
#include "loop/dispatch_check.h"
#include "toolchain/machine.h"

namespace kagent::loop {

toolchain::HostToolchainOptions host_toolchain_options(const build_step::KernelContext& context,
                                                       const WorkbenchOptions& options) {
  toolchain::HostToolchainOptions result;
  result.command = context.command;
  result.source = context.request.source;
  result.runtime = options.runtime;
  result.entry = context.spec.entry;
  result.parameters = context.spec.parameters;
  result.libraries = context.spec.rules.libraries;
  result.visible = {context.request.project_dir, context.request.source.parent_path(), context.request.build_dir};
  result.covered = {context.spec.folder, context.request.project_dir / ".git", options.state_folder};
  result.allow_unsandboxed = options.allow_unsandboxed;
  result.isolated = is_dispatched(context.request);
  return result;
}

Result<Platform> open_platform(const build_step::KernelContext& context, const WorkbenchOptions& options) {
  if (context.request.language == Language::cuda) return open_cuda_platform(context, options);
  Platform platform;
  const auto tools = host_toolchain_options(context, options);
  platform.toolchain = toolchain::make_host_toolchain(tools);
  if (context.spec.reference)
    platform.reference_toolchain =
        toolchain::make_host_toolchain(toolchain::reference_options(tools, *context.spec.reference));
  platform.runner = runner::make_host_runner();
  platform.reference_runner = runner::make_host_runner();
  platform.device = toolchain::machine_description();
  platform.ceilings = profiler::measure_ceilings;
  return platform;
}

}  // namespace kagent::loop
