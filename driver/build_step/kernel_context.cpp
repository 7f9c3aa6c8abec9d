// SPDX-License-Identifier: Apache-2.0
#include "build_step/kernel_context.h"

#include <cctype>
#include <cstdlib>
#include <string_view>

#include <fmt/core.h>

#include "build_step/header_list.h"
#include "spec/spec.h"
#include "toolchain/host_toolchain.h"
#include "util/files.h"
#include "util/hash.h"

namespace kagent::build_step {
namespace {

namespace fs = std::filesystem;

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  if (from.empty()) return;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// What CMake itself defines for every source of a shared library, and for none of a static one: no kernel computes
// something else because of it.
bool is_export_symbol(const std::string& definition, const std::string& target) {
  std::string symbol = "-D" + target + "_EXPORTS";
  for (std::size_t i = 2; i < symbol.size(); ++i)
    if (!std::isalnum(static_cast<unsigned char>(symbol[i]))) symbol[i] = '_';
  return definition == symbol;
}

Result<void> hash_golden(KernelContext& context) {
  const std::vector<std::string> names = portable_names(context.spec.files, {context.spec.folder, {}});
  for (std::size_t i = 0; i < names.size(); ++i) {
    const fs::path& file = context.spec.files[i];
    auto hash = util::sha256_file(file);
    if (!hash) return std::unexpected(hash.error());
    if (file.filename() == "kernel.json" && file.parent_path() == context.spec.folder)
      context.key.spec = *hash;
    else
      context.key.golden[names[i]] = *hash;
  }
  return {};
}

// Clusters came with sm_90: before it such a launch fails, the baseline's as well. One block is no cluster.
Result<void> check_cluster(const KernelContext& context) {
  constexpr int kFirstWithClusters = 90;
  if (!context.spec.launch || !context.spec.launch->cluster) return {};
  std::int64_t blocks = 1;
  for (const Expression& extent : *context.spec.launch->cluster)
    blocks *= extent.names().empty() ? extent.evaluate({}).value_or(1) : 1;
  if (blocks == 1 || std::atoi(context.architecture.c_str() + std::string_view("sm_").size()) >= kFirstWithClusters)
    return {};
  return failure(fmt::format("{}/kernel.json: /launch/cluster: {} blocks in a cluster, and {} has no clusters",
                             context.spec.folder.string(), blocks, context.architecture),
                 "build for sm_90 or later alone (ARCHITECTURES, CUDA_ARCHITECTURES), or leave \"cluster\" out");
}

}  // namespace

std::string filed_architecture(const BuildOutput& output) {
  return output.architecture == "native" ? toolchain::machine_level() : output.architecture;
}

std::optional<StageError> architecture_conflict(const KernelContext& context) {
  const std::string& architecture = context.architecture;
  const bool is_specific = architecture.ends_with('a') || architecture.ends_with('f');
  if (!context.spec.architecture_specific || is_specific) return std::nullopt;
  constexpr int kFirstWithOwnCode = 90;
  const std::string number = architecture.substr(std::string_view("sm_").size());
  const std::string asks = "kernel.json asks for code of one architecture alone (\"architecture_specific\"), ";
  if (std::atoi(number.c_str()) < kFirstWithOwnCode)
    return StageError{
        asks + "which there is none of for " + architecture,
        fmt::format("leave {} out of ARCHITECTURES, or \"architecture_specific\" out of kernel.json", number)};
  return StageError{asks + "and the build compiles for " + architecture,
                    fmt::format("ARCHITECTURES {0}a, or CUDA_ARCHITECTURES {0}a of the target", number)};
}

std::string portable_text(std::string text, const KernelRequest& request) {
  // The build folder first: it may lie inside the project.
  replace_all(text, request.build_dir.string(), "${BUILD}");
  replace_all(text, request.project_dir.string(), "${PROJECT}");
  return text;
}

Result<KernelContext> load_context(const KernelRequest& request, const BuildOutput& output) {
  KernelContext context;
  context.request = request;
  context.architecture = filed_architecture(output);
  context.generated = output.generated;

  auto spec = spec::load(request.golden);
  if (!spec) return std::unexpected(spec.error());
  context.spec = std::move(*spec);
  if (context.spec.kernel != request.kernel)
    return failure(fmt::format("{}/kernel.json: \"kernel\" is \"{}\", but the CMake call names it '{}'",
                               request.golden.string(), context.spec.kernel, request.kernel),
                   "use one name in both places");
  if (context.spec.style == Style::kernel && request.language != Language::cuda)
    return failure(fmt::format("{}/kernel.json: \"style\" is \"kernel\", and {} is not CUDA", request.golden.string(),
                               request.source.string()),
                   "use \"launcher\", or name a .cu source in the CMake call");

  if (auto done = check_cluster(context); !done) return std::unexpected(done.error());

  auto text = util::read_file(request.source);
  if (!text) return std::unexpected(text.error());
  context.source_text = std::move(*text);
  context.key.source = util::sha256(context.source_text);
  // Compilers skip it at the beginning of a file, and lines are put in front of this text.
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (context.source_text.starts_with(kByteOrderMark)) context.source_text.erase(0, kByteOrderMark.size());

  auto command = toolchain::find_compile_command(request.compile_commands, output.generated, request.config);
  if (!command) return std::unexpected(command.error());
  context.command = std::move(*command);
  for (const std::string& definition : context.command.definitions())
    if (!is_export_symbol(definition, request.target))
      context.key.definitions += portable_text(definition, request) + "\n";
  context.key.standard = context.command.standard();

  auto headers =
      list_headers(context.command, request.source, context.key.source, {request.project_dir, request.build_dir},
                   request.file.parent_path() / ("headers-" + output.architecture + ".json"));
  if (!headers) return std::unexpected(headers.error());
  context.headers = std::move(headers->paths);
  context.key.headers = std::move(headers->hashes);

  if (auto done = hash_golden(context); !done) return std::unexpected(done.error());
  return context;
}

}  // namespace kagent::build_step
