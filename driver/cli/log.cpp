// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "store/variant_store.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

struct LogOptions {
  ProjectOption project;
  std::string kernel;
  bool json = false;
};

int print_log(const LogOptions& options) {
  auto store = store::VariantStore::open(options.project.folder, options.project.folder / "build");
  if (!store) throw UserError(store.error());
  auto architectures = store->architectures(options.kernel);
  if (!architectures) throw UserError(architectures.error());
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const std::string& architecture : *architectures) {
    auto variants = store->list(options.kernel, architecture, VariantPlace::local_branch);
    if (!variants) throw UserError(variants.error());
    for (const Variant& variant : *variants) {
      if (options.json)
        lines.push_back({{"branch", variant.reference}, {"generation", variant.evidence.generation}});
      else
        fmt::print("{}\n", util::clean(variant.reference));
    }
  }
  if (options.json) fmt::print("{}\n", lines.dump(2));
  return kDone;
}

}  // namespace

void add_log(CLI::App& app, Action& action) {
  auto options = std::make_shared<LogOptions>();
  CLI::App* command = app.add_subcommand("log", "The generations of a kernel, newest first");
  command->add_option("kernel", options->kernel, "Name of the kernel")->required();
  command->add_flag("--json", options->json, "Print JSON");
  add_project_option(*command, options->project);
  add_example(*command, "kagent log softmax");
  command->callback([options, &action] { action = [options] { return print_log(*options); }; });
}

}  // namespace kagent::cli
