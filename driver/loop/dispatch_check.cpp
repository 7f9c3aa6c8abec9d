// SPDX-License-Identifier: Apache-2.0
#include "loop/dispatch_check.h"

#include <algorithm>

#include <fmt/core.h>

#include "build_step/generated_source.h"

namespace kagent::loop {

bool is_dispatched(const KernelRequest& request) {
  return std::ranges::any_of(request.outputs, [](const BuildOutput& output) { return output.is_dispatcher(); });
}

Result<void> check_dispatch(const build_step::KernelContext& context, toolchain::HostToolchainOptions tools,
                            const std::filesystem::path& work_folder) {
  const build_step::RenamedBaseline renamed = build_step::renamed_baseline(context.request.source, context.spec.entry);
  std::error_code error;
  std::filesystem::remove_all(work_folder, error);
  std::filesystem::create_directories(work_folder, error);
  if (error) return failure(work_folder.string() + ": " + error.message(), "make the folder writable");
  tools.entry = renamed.entry;
  // As the dispatcher does.
  const std::string text =
      renamed.source +
      fmt::format("void (*kagent_address())() {{ return reinterpret_cast<void (*)()>(&::{}); }}\n", renamed.entry);
  auto compiled = toolchain::make_host_toolchain(std::move(tools))->compile({text, work_folder});
  if (!compiled) return std::unexpected(compiled.error());
  if (compiled->outcome == Outcome::ok) return {};
  return failure(
      fmt::format("{}: with ARCHITECTURES the entry {} gets another name, and then the source does not "
                  "compile: {}",
                  context.request.source.string(), context.spec.entry,
                  compiled->diagnostics.substr(0, compiled->diagnostics.find('\n'))),
      "give the entry a name that nothing else in the source and its headers has, or leave ARCHITECTURES out");
}

}  // namespace kagent::loop
