// SPDX-License-Identifier: Apache-2.0
#include "loop/dispatch_check.h"

#include <algorithm>

#include <fmt/core.h>

#include "build_step/pick.h"
#include "loop/cuda_platform.h"

namespace kagent::loop {

namespace {

// What makes a program of the baseline when its entry is called `entry`.
Result<std::unique_ptr<toolchain::Toolchain>> toolchain_for(const build_step::KernelContext& context,
                                                            const WorkbenchOptions& options, const std::string& entry) {
  if (context.request.language == Language::cxx) {
    toolchain::HostToolchainOptions tools = host_toolchain_options(context, options);
    tools.entry = entry;
    return toolchain::make_host_toolchain(std::move(tools));
  }
  auto tools = cuda_toolchain_options(context, options);
  if (!tools) return std::unexpected(tools.error());
  tools->entry = entry;
  return toolchain::make_cuda_toolchain(*std::move(tools));
}

}  // namespace

bool is_dispatched(const KernelRequest& request) {
  return std::ranges::any_of(request.outputs, [](const BuildOutput& output) { return output.is_dispatcher(); });
}

Result<void> check_dispatch(const build_step::KernelContext& context, const WorkbenchOptions& options,
                            const std::filesystem::path& work_folder) {
  const build_step::RenamedBaseline renamed = build_step::dispatched_baseline(context);
  std::error_code error;
  std::filesystem::remove_all(work_folder, error);
  std::filesystem::create_directories(work_folder, error);
  if (error) return failure(work_folder.string() + ": " + error.message(), "make the folder writable");
  auto tools = toolchain_for(context, options, renamed.entry);
  if (!tools) return std::unexpected(tools.error());
  // As the dispatcher does.
  const std::string text =
      renamed.source +
      fmt::format("void (*kagent_address())() {{ return reinterpret_cast<void (*)()>(&::{}); }}\n", renamed.entry);
  auto compiled = (*tools)->compile({text, work_folder});
  if (!compiled) return std::unexpected(compiled.error());
  if (compiled->outcome == Outcome::ok) return {};
  const std::string reason = compiled->diagnostics.substr(0, compiled->diagnostics.find('\n'));
  return failure(
      fmt::format("{}: with several architectures the entry {} gets another name, and then the source does not "
                  "compile: {}",
                  context.request.source.string(), context.spec.entry, reason),
      context.request.language == Language::cuda
          ? "give the entry a name that nothing else in the source and its headers has, or build for one architecture"
          : "give the entry a name that nothing else in the source and its headers has, or leave ARCHITECTURES out");
}

}  // namespace kagent::loop
