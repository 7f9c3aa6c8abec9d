// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/json_output.h"
#include "cli/variants.h"
#include "store/variant_name.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

struct PromoteOptions {
  KernelOptions kernel;
  std::string generation;
  bool force = false;
};

Variant chosen(const KeptVariants& kept, const PromoteOptions& options, const std::string& architecture) {
  const std::string& kernel = options.kernel.kernel;
  if (!options.generation.empty()) return find_variant(kept, kernel, architecture, options.generation);
  if (auto variant = in_use(kept, kernel, architecture, false)) return std::move(*variant);
  throw UserError("no variant of " + kernel + " for " + architecture + " on a branch fits",
                  "kagent explain " + kernel + " says why; kagent promote " + kernel + " g001 takes one all the same");
}

int promote(const PromoteOptions& options) {
  KeptVariants kept = open_kept(options.kernel);
  auto all = nlohmann::ordered_json::array();
  for (const std::string& architecture : architectures(kept, options.kernel)) {
    const Variant variant = chosen(kept, options, architecture);
    const auto files = require(kept.store.promote(variant, options.force));
    auto paths = nlohmann::ordered_json::array();
    for (const auto& file : files) paths.push_back(file.string());
    if (options.kernel.json) {
      all.push_back({{"architecture", architecture}, {"reference", variant.reference}, {"files", paths}});
      continue;
    }
    fmt::print("{} {} {}: {} over baseline\n", variant.evidence.kernel, architecture,
               store::generation_name(variant.evidence.generation), speedup(variant.evidence.against_baseline.ratio));
    for (const auto& file : files) fmt::print("  {}\n", util::clean(file.string()));
  }
  if (options.kernel.json)
    print_json(all);
  else
    fmt::print("Review and commit them: builds look there first, in every clone.\n");
  return kDone;
}

}  // namespace

void add_promote(CLI::App& app, Action& action) {
  auto options = std::make_shared<PromoteOptions>();
  CLI::App* command = app.add_subcommand(
      "promote", "Puts the best variant into variants/ of the working tree, for you to review and commit");
  add_kernel_options(*command, options->kernel);
  command->add_option("generation", options->generation, "g002, or a branch; left out: the best that fits");
  command->add_flag("--force", options->force, "Replace a file there even if it was edited");
  add_example(*command, "kagent promote softmax");
  command->callback([options, &action] { action = [options] { return promote(*options); }; });
}

}  // namespace kagent::cli
