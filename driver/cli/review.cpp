// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/json_output.h"
#include "cli/variants.h"
#include "store/reviews.h"
#include "store/variant_name.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

struct ReviewOptions {
  KernelOptions kernel;
  std::string generation;
  bool confirm = false, withdraw = false;
};

std::string_view state_of(const Variant& variant, const std::vector<Review>& reviews) {
  if (variant.place == VariantPlace::working_tree) return "in variants/: reviewed with the project";
  if (variant.place == VariantPlace::local_branch && variant.evidence.reviewed) return "of a known architecture";
  return is_reviewed(variant, reviews) ? "confirmed" : "not reviewed";
}

nlohmann::ordered_json to_json(const Variant& variant, const std::vector<Review>& reviews) {
  return {{"reference", variant.reference},
          {"architecture", variant.evidence.architecture},
          {"generation", variant.evidence.generation},
          {"reviewed", is_reviewed(variant, reviews)},
          {"state", state_of(variant, reviews)}};
}

// The one that was named, or the newest of the local branches.
Variant chosen(const KeptVariants& kept, const ReviewOptions& options, const std::string& architecture) {
  if (!options.generation.empty()) return find_variant(kept, options.kernel.kernel, architecture, options.generation);
  for (Variant& variant : all_variants(kept.store, options.kernel.kernel, architecture))
    if (variant.place == VariantPlace::local_branch) return std::move(variant);
  throw UserError("there is no local variant of " + options.kernel.kernel + " for " + architecture + " to confirm",
                  "name one: kagent log " + options.kernel.kernel + " lists them");
}

int review(const ReviewOptions& options) {
  if (options.confirm && options.withdraw)
    throw UserError("--confirm and --withdraw exclude each other", "give one of them");
  KeptVariants kept = open_kept(options.kernel);
  const std::string& kernel = options.kernel.kernel;
  bool all_reviewed = true;
  auto lines = nlohmann::ordered_json::array();
  for (const std::string& architecture : architectures(kept, options.kernel)) {
    if (options.confirm) require(store::confirm(kept.store, chosen(kept, options, architecture)));
    if (options.withdraw) {
      const int count = require(store::withdraw(kept.store, kernel, architecture));
      if (!options.kernel.json) fmt::print("{} {}: {} taken back\n", kernel, architecture, count);
    }
    const std::vector<Review> reviews = require(store::reviews(kept.store, kernel, architecture));
    for (const Variant& variant : all_variants(kept.store, kernel, architecture)) {
      all_reviewed = all_reviewed && is_reviewed(variant, reviews);
      if (options.kernel.json)
        lines.push_back(to_json(variant, reviews));
      else
        fmt::print("{} {} {}  {}  {}\n", kernel, architecture, store::generation_name(variant.evidence.generation),
                   util::clean(variant.reference), state_of(variant, reviews));
    }
  }
  if (options.kernel.json) print_json(lines);
  return options.confirm || options.withdraw || all_reviewed ? kDone : kNegative;
}

}  // namespace

void add_review(CLI::App& app, Action& action) {
  auto options = std::make_shared<ReviewOptions>();
  CLI::App* command = app.add_subcommand("review", "Which variants a person has looked at; confirms them");
  add_kernel_options(*command, options->kernel);
  command->add_option("generation", options->generation, "g002 or a branch; left out: the newest on a local branch");
  command->add_flag("--confirm", options->confirm, "Vouch for it: builds with REQUIRE_REVIEWED then take it");
  command->add_flag("--withdraw", options->withdraw, "Take back what was confirmed for the kernel");
  add_example(*command,
              "kagent review softmax g001 --confirm\n\n"
              "The first variants for an architecture are marked as not reviewed. Once one is confirmed, or promoted\n"
              "into variants/, the architecture is known and later variants for it are not marked. No branch is\n"
              "touched: a confirmation is a record beside the repository's own, for this very source.\n"
              "Exit code 1: some variant is not reviewed.");
  command->callback([options, &action] { action = [options] { return review(*options); }; });
}

}  // namespace kagent::cli
