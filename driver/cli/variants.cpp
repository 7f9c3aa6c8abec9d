// SPDX-License-Identifier: Apache-2.0
#include "cli/variants.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "build_step/pick.h"
#include "build_step/request.h"
#include "store/variant_name.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

namespace fs = std::filesystem;

constexpr VariantPlace kPlaces[] = {VariantPlace::working_tree, VariantPlace::local_branch,
                                    VariantPlace::remote_branch};

bool holds_variants(const store::VariantStore& store, const std::string& kernel) {
  const auto kernels = kernel.empty() ? require(store.kernels()) : std::vector<std::string>{kernel};
  for (const std::string& one : kernels)
    for (const std::string& architecture : require(store.architectures(one)))
      if (!all_variants(store, one, architecture).empty()) return true;
  return false;
}

store::VariantStore search_upwards(const fs::path& start, const fs::path& build, const std::string& kernel) {
  auto store = require(store::VariantStore::open(start, build));
  const fs::path top = store.repository_root();
  for (fs::path folder = fs::canonical(start); folder != top && folder != folder.parent_path();) {
    if (!store.has_git() || holds_variants(store, kernel)) return store;
    folder = folder.parent_path();
    store = require(store::VariantStore::open(folder, build));
  }
  return store;
}

bool is_held(const std::vector<Hold>& holds, const Variant& variant) {
  return variant.place != VariantPlace::working_tree && std::any_of(holds.begin(), holds.end(), [&](const Hold& hold) {
           return hold.source_hash == variant.evidence.source_hash;
         });
}

// As the build decides it; nothing if there is no build tree, or if its inputs cannot be read.
std::optional<Choice> choice_of_build(const KeptVariants& kept, const std::string& kernel,
                                      const std::string& architecture, bool working_tree) {
  for (const KernelRequest& request : kept.requests)
    for (const BuildOutput& output : request.outputs) {
      if (request.kernel != kernel || output.is_dispatcher() || build_step::filed_architecture(output) != architecture)
        continue;
      auto context = build_step::load_context(request, output);
      auto inputs = context ? build_step::selection_inputs(*context, kept.store)
                            : Result<selection::Inputs>(std::unexpected(context.error()));
      if (!inputs) return std::nullopt;
      if (!working_tree) inputs->working_tree.clear();
      return selection::choose(*inputs);
    }
  return std::nullopt;
}

}  // namespace

void add_kernel_options(CLI::App& command, KernelOptions& options, bool kernel_required) {
  auto* kernel = command.add_option("kernel", options.kernel, "Name of the kernel");
  if (kernel_required) kernel->required();
  command.add_option("--architecture", options.architecture, "Only this architecture, such as x86-64-v3");
  command.add_flag("--json", options.json, "Print JSON");
  add_project_option(command, options.project);
  add_build_option(command, options.build);
}

KeptVariants open_kept(const KernelOptions& options) {
  std::error_code error;
  const fs::path& project = options.project.folder;
  if (!fs::exists(project, error))
    throw UserError("there is no folder '" + project.string() + "'", "name one with --project");
  fs::path build = options.build.folder;
  // The build tree of the current folder is not that of a project elsewhere.
  if (build == BuildOption{}.folder || !fs::exists(build, error)) build = project / build;
  build = fs::absolute(build);
  if (auto requests = build_step::find_requests(build, options.kernel, options.build.target);
      requests && !requests->empty()) {
    auto store = require(store::VariantStore::open(requests->front().project_dir, requests->front().build_dir));
    return {std::move(store), std::move(*requests)};
  }
  return {search_upwards(project, build, options.kernel), {}};
}

std::vector<std::string> architectures(const KeptVariants& kept, const KernelOptions& options) {
  auto found = require(kept.store.architectures(options.kernel));
  if (found.empty()) {
    const auto kernels = require(kept.store.kernels());
    const std::string near = util::nearest(options.kernel, kernels);
    throw UserError("there is no variant of '" + options.kernel + "'",
                    !near.empty()      ? "did you mean '" + near + "'?"
                    : !kernels.empty() ? fmt::format("there are variants of {}", fmt::join(kernels, ", "))
                                       : "kagent optimize " + options.kernel + " looks for one");
  }
  if (options.architecture.empty()) return found;
  if (std::find(found.begin(), found.end(), options.architecture) == found.end())
    throw UserError("there is no variant of '" + options.kernel + "' for '" + options.architecture + "'",
                    fmt::format("there are variants for {}", fmt::join(found, ", ")));
  return {options.architecture};
}

std::vector<Variant> all_variants(const store::VariantStore& store, const std::string& kernel,
                                  const std::string& architecture, std::vector<std::string>* broken) {
  std::vector<Variant> all;
  for (VariantPlace place : kPlaces) {
    auto found = require(store.list(kernel, architecture, place, broken));
    std::move(found.begin(), found.end(), std::back_inserter(all));
  }
  return all;
}

std::optional<Variant> in_use(const KeptVariants& kept, const std::string& kernel, const std::string& architecture,
                              bool working_tree) {
  if (auto choice = choice_of_build(kept, kernel, architecture, working_tree)) return std::move(choice->variant);
  const auto holds = require(kept.store.holds(kernel, architecture));
  for (VariantPlace place : {VariantPlace::working_tree, VariantPlace::local_branch}) {
    if (place == VariantPlace::working_tree && !working_tree) continue;
    for (Variant& variant : require(kept.store.list(kernel, architecture, place)))
      if (!is_held(holds, variant)) return std::move(variant);
  }
  return std::nullopt;
}

Variant find_variant(const KeptVariants& kept, const std::string& kernel, const std::string& architecture,
                     const std::string& text) {
  const auto generation = store::parse_generation(text);
  std::vector<std::string> names, broken;
  for (Variant& variant : all_variants(kept.store, kernel, architecture, &broken)) {
    // By generation a branch is meant, which the files in the working tree may be an edited copy of.
    const bool by_number = generation && variant.evidence.generation == *generation;
    if (variant.reference == text || (by_number && variant.place != VariantPlace::working_tree)) return variant;
    names.push_back(variant.place == VariantPlace::working_tree ? variant.reference
                                                                : store::generation_name(variant.evidence.generation));
  }
  const std::string others = names.empty() ? "" : fmt::format("there are {}", fmt::join(names, ", "));
  for (const std::string& line : broken) {
    const std::string reference = line.substr(0, line.find(": "));
    const auto name = store::parse_variant_name(reference);
    if (reference == text || (name && generation && name->generation == *generation))
      throw UserError("a variant that cannot be used: " + util::clean(line, 500), others);
  }
  throw UserError(fmt::format("there is no variant '{}' of {} for {}", text, kernel, architecture), others);
}

std::string speedup(double ratio) {
  return ratio > 0 ? fmt::format("{:.2f}x", 1 / ratio) : "?";
}

std::string parent_name(const Evidence& evidence) {
  const auto parent = store::parse_variant_name(evidence.parent);
  return parent ? store::generation_name(parent->generation) : util::clean(evidence.parent, 200);
}

bool use_colour() {
  const char* none = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && !(none && *none) && !(terminal && std::string_view(terminal) == "dumb");
}

std::string coloured(const std::string& text, int sgr) {
  return use_colour() ? fmt::format("\x1b[{}m{}\x1b[0m", sgr, text) : text;
}

}  // namespace kagent::cli
