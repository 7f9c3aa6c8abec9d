// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/json_output.h"
#include "cli/variants.h"
#include "store/text_diff.h"
#include "store/variant_name.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

struct DiffOptions {
  KernelOptions kernel;
  std::string from, to;
};

// One side of the comparison.
struct Side {
  std::string name;
  std::string text;
};

Side baseline(const KeptVariants& kept, const Variant& variant) {
  const std::string name = "baseline/" + variant.evidence.source_name;
  for (const KernelRequest& request : kept.requests) {
    auto text = util::read_file(request.source);
    if (request.kernel == variant.evidence.kernel && text && util::sha256(*text) == variant.evidence.key.source)
      return {name, std::move(*text)};
  }
  if (auto text = kept.store.baseline_of(variant)) return {name, std::move(*text)};
  throw UserError("the baseline that " + variant.reference + " was made from is in neither its branch nor HEAD",
                  "name two generations: kagent diff " + variant.evidence.kernel + " g001 g002");
}

Side side(const Variant& variant) {
  return {store::generation_name(variant.evidence.generation) + "/" + variant.evidence.source_name, variant.source};
}

Variant latest(const KeptVariants& kept, const std::string& kernel, const std::string& architecture) {
  if (auto variant = in_use(kept, kernel, architecture)) return std::move(*variant);
  throw UserError("no variant of " + kernel + " for " + architecture + " is in use: builds take the baseline",
                  "name a generation: kagent log " + kernel + " lists them");
}

std::pair<Side, Side> sides(const KeptVariants& kept, const DiffOptions& options, const std::string& architecture) {
  const std::string& kernel = options.kernel.kernel;
  if (options.to.empty()) {
    const Variant variant = options.from.empty() ? latest(kept, kernel, architecture)
                                                 : find_variant(kept, kernel, architecture, options.from);
    return {baseline(kept, variant), side(variant)};
  }
  const auto get = [&](const std::string& text, const std::string& other) {
    if (text != "baseline") return side(find_variant(kept, kernel, architecture, text));
    return baseline(kept, find_variant(kept, kernel, architecture, other));
  };
  return {get(options.from, options.to), get(options.to, options.from)};
}

void print(const std::string& patch) {
  constexpr int kBold = 1, kRed = 31, kGreen = 32, kCyan = 36;
  const std::string text = util::clean(patch, patch.size());
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    const int colour = one.starts_with("+++") || one.starts_with("---") ? kBold
                       : one.starts_with('+')                           ? kGreen
                       : one.starts_with('-')                           ? kRed
                       : one.starts_with('@')                           ? kCyan
                                                                        : 0;
    fmt::print("{}\n", colour != 0 ? coloured(one, colour) : one);
    begin = end + 1;
  }
}

int diff(const DiffOptions& options) {
  const KeptVariants kept = open_kept(options.kernel);
  auto all = nlohmann::ordered_json::array();
  const auto wanted = architectures(kept, options.kernel);
  for (const std::string& architecture : wanted) {
    const auto [from, to] = sides(kept, options, architecture);
    // One after the other, generations of the same number could not be told apart.
    const std::string of = wanted.size() > 1 && !options.kernel.json ? architecture + "/" : "";
    const std::string patch = require(store::text_diff(from.text, of + from.name, to.text, of + to.name));
    if (options.kernel.json)
      all.push_back({{"architecture", architecture}, {"from", from.name}, {"to", to.name}, {"patch", patch}});
    else
      print(patch);
  }
  if (options.kernel.json) print_json(all);
  return kDone;
}

}  // namespace

void add_diff(CLI::App& app, Action& action) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* command = app.add_subcommand("diff", "What a variant changes in the source");
  add_kernel_options(*command, options->kernel);
  command->add_option("from", options->from, "Generation, or 'baseline'; alone: the baseline against it");
  command->add_option("to", options->to, "Generation, or 'baseline'; left out: what builds take");
  add_example(*command, "kagent diff softmax g001 g002");
  command->callback([options, &action] { action = [options] { return diff(*options); }; });
}

}  // namespace kagent::cli
