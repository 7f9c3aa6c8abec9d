// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/json_output.h"
#include "cli/variants.h"
#include "store/variant_name.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

constexpr int kBold = 1, kGreen = 32, kYellow = 33;

const Hold* find_hold(const std::vector<Hold>& holds, const Variant& variant) {
  const auto found = std::find_if(holds.begin(), holds.end(), [&](const Hold& hold) {
    return variant.place != VariantPlace::working_tree && hold.source_hash == variant.evidence.source_hash;
  });
  return found == holds.end() ? nullptr : &*found;
}

std::string place_name(VariantPlace place) {
  switch (place) {
    case VariantPlace::working_tree:
      return "working tree";
    case VariantPlace::local_branch:
      return "local branch";
    case VariantPlace::remote_branch:
      return "remote branch";
  }
  throw InternalError("a place that is none");
}

nlohmann::ordered_json to_json(const Variant& variant, const Hold* hold) {
  const Evidence& evidence = variant.evidence;
  return {{"kernel", evidence.kernel},
          {"architecture", evidence.architecture},
          {"generation", evidence.generation},
          {"reference", variant.reference},
          {"place", place_name(variant.place)},
          {"created", evidence.created},
          {"parent", evidence.parent},
          {"ratio_to_baseline", evidence.against_baseline.ratio},
          {"ratio_to_parent", evidence.against_incumbent.ratio},
          {"hypothesis", evidence.hypothesis},
          {"held_since", hold ? nlohmann::ordered_json(hold->since) : nlohmann::ordered_json()}};
}

void print(const Variant& variant, const Hold* hold) {
  const Evidence& evidence = variant.evidence;
  std::string line = "  " + coloured(store::generation_name(evidence.generation), kBold) + "  " +
                     coloured(speedup(evidence.against_baseline.ratio) + " over baseline", kGreen);
  if (evidence.parent != "baseline")
    line += ", " + speedup(evidence.against_incumbent.ratio) + " over " + parent_name(evidence);
  line += "  " + util::clean(evidence.created.substr(0, 10)) + "  " + util::clean(variant.reference);
  if (hold) line += coloured("  held back by a rollback on " + util::clean(hold->since), kYellow);
  fmt::print("{}\n", line);
  const std::string why = util::clean(evidence.hypothesis, 500);
  if (!why.empty()) fmt::print("        {}\n", why.substr(0, why.find('\n')));
}

int print_log(const KernelOptions& given) {
  const KeptVariants kept = open_kept(given);
  std::vector<std::string> kernels{given.kernel};
  if (given.kernel.empty()) kernels = require(kept.store.kernels());
  auto lines = nlohmann::ordered_json::array();
  std::vector<std::string> broken;
  for (const std::string& kernel : kernels) {
    KernelOptions options = given;
    options.kernel = kernel;
    for (const std::string& architecture : architectures(kept, options)) {
      const auto holds = require(kept.store.holds(kernel, architecture));
      const auto variants = all_variants(kept.store, kernel, architecture, &broken);
      if (!given.json && !variants.empty()) fmt::print("{} {}\n", kernel, architecture);
      for (const Variant& variant : variants)
        if (given.json)
          lines.push_back(to_json(variant, find_hold(holds, variant)));
        else
          print(variant, find_hold(holds, variant));
    }
  }
  if (given.json)
    print_json({{"variants", lines}, {"broken", broken}});
  else if (kernels.empty())
    fmt::print("no variants yet\n");
  for (const std::string& line : broken) fmt::print(stderr, "kagent: cannot be used: {}\n", util::clean(line));
  return kDone;
}

}  // namespace

void add_log(CLI::App& app, Action& action) {
  auto options = std::make_shared<KernelOptions>();
  CLI::App* command = app.add_subcommand("log", "The generations of a kernel, newest first");
  add_kernel_options(*command, *options, false);
  add_example(*command, "kagent log softmax");
  command->callback([options, &action] { action = [options] { return print_log(*options); }; });
}

}  // namespace kagent::cli
