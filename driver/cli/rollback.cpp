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

struct RollbackOptions {
  KernelOptions kernel;
  std::string to;
  bool release = false;
};

// What happened for one architecture.
struct Outcome {
  std::string architecture;
  std::vector<Hold> held;  // now
  int released = 0;
  std::string taken;  // by builds from now on
};

std::string name(const std::optional<Variant>& variant) {
  return variant ? store::generation_name(variant->evidence.generation) : "baseline";
}

// Files in the working tree come before every branch, so holding branches back would change nothing.
void check_working_tree(const KeptVariants& kept, const std::string& kernel, const std::string& architecture,
                        int generation) {
  const auto tree = require(kept.store.list(kernel, architecture, VariantPlace::working_tree));
  if (tree.empty() || tree.front().evidence.generation <= generation) return;
  throw UserError(fmt::format("{} in the working tree holds {}, and comes before every branch", tree.front().reference,
                              store::generation_name(tree.front().evidence.generation)),
                  generation == 0 ? "delete that folder, then roll back"
                                  : fmt::format("kagent promote {} {} --architecture {}", kernel,
                                                store::generation_name(generation), architecture));
}

// The generation that was asked for; or the one that comes next when the one in use is taken out.
int target_generation(const KeptVariants& kept, const RollbackOptions& options, const std::string& architecture) {
  const std::string& kernel = options.kernel.kernel;
  if (!options.to.empty()) {
    const auto generation = store::parse_generation(options.to);
    if (!generation) throw UserError("--to '" + options.to + "' is no generation", "use g002, or baseline");
    if (*generation > 0) find_variant(kept, kernel, architecture, options.to);
    return *generation;
  }
  const auto current = in_use(kept, kernel, architecture);
  if (!current)
    throw UserError("builds of " + kernel + " for " + architecture + " take the baseline already",
                    "kagent explain " + kernel + " says why");
  const auto holds = require(kept.store.holds(kernel, architecture));
  int next = 0;
  for (const Variant& variant : all_variants(kept.store, kernel, architecture)) {
    const bool held = std::any_of(holds.begin(), holds.end(),
                                  [&](const Hold& hold) { return hold.source_hash == variant.evidence.source_hash; });
    if (!held && variant.evidence.generation < current->evidence.generation)
      next = std::max(next, variant.evidence.generation);
  }
  return next;
}

Outcome roll_back(KeptVariants& kept, const RollbackOptions& options, const std::string& architecture) {
  const std::string& kernel = options.kernel.kernel;
  Outcome outcome{architecture, {}, 0, {}};
  if (options.release) {
    outcome.released = require(kept.store.release(kernel, architecture));
  } else {
    const int generation = target_generation(kept, options, architecture);
    check_working_tree(kept, kernel, architecture, generation);
    outcome.held = require(kept.store.roll_back(kernel, architecture, generation));
  }
  outcome.taken = name(in_use(kept, kernel, architecture));
  return outcome;
}

nlohmann::ordered_json to_json(const Outcome& outcome) {
  auto held = nlohmann::ordered_json::array();
  for (const Hold& hold : outcome.held) held.push_back({{"reference", hold.reference}, {"since", hold.since}});
  return {{"architecture", outcome.architecture},
          {"taken", outcome.taken},
          {"held", std::move(held)},
          {"released", outcome.released}};
}

void print(const std::string& kernel, const Outcome& outcome, bool release) {
  if (release) {
    fmt::print("{} {}: {} let back in, builds take {}\n", kernel, outcome.architecture,
               outcome.released == 0 ? "nothing was held back, nothing" : std::to_string(outcome.released),
               outcome.taken);
    return;
  }
  std::string held;
  for (const Hold& hold : outcome.held) held += (held.empty() ? "" : ", ") + store::generation_name(hold.generation);
  fmt::print("{} {}: builds take {} from now on; held back: {}\n", kernel, outcome.architecture, outcome.taken,
             held.empty() ? "nothing" : held);
  fmt::print("  undo: kagent rollback {} --release\n", kernel);
}

int rollback(const RollbackOptions& options) {
  if (options.release && !options.to.empty())
    throw UserError("--release and --to exclude each other", "--release lets everything back in; --to moves to one");
  KeptVariants kept = open_kept(options.kernel);
  auto all = nlohmann::ordered_json::array();
  for (const std::string& architecture : architectures(kept, options.kernel)) {
    const Outcome outcome = roll_back(kept, options, architecture);
    if (options.kernel.json)
      all.push_back(to_json(outcome));
    else
      print(options.kernel.kernel, outcome, options.release);
  }
  if (options.kernel.json) print_json(all);
  return kDone;
}

}  // namespace

void add_rollback(CLI::App& app, Action& action) {
  auto options = std::make_shared<RollbackOptions>();
  CLI::App* command =
      app.add_subcommand("rollback", "Makes builds take an older generation, or the baseline; undone by --release");
  add_kernel_options(*command, options->kernel);
  command->add_option("--to", options->to, "g002, or baseline; left out: the one before what builds take");
  command->add_flag("--release", options->release, "Let everything that is held back in again");

  add_example(*command,
              "kagent rollback softmax --to g001\n\n"
              "No branch is touched: newer generations are held back by a record beside the repository's own.");
  command->callback([options, &action] { action = [options] { return rollback(*options); }; });
}

}  // namespace kagent::cli
