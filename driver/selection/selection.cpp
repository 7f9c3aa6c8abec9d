// SPDX-License-Identifier: Apache-2.0
#include "selection/selection.h"

#include <algorithm>

#include "util/hash.h"

namespace kagent::selection {
namespace {

// Why the variant cannot be built here, held or not; empty if it can.
std::string mismatch(const Inputs& inputs, const Variant& variant) {
  if (std::string found = flaw(variant, inputs.kernel, inputs.architecture); !found.empty()) return "broken: " + found;
  if (util::sha256(variant.source) != variant.evidence.source_hash)
    return "stale: " + variant.evidence.source_name + " was edited since it was measured";
  if (std::string found = difference(variant.evidence.key, inputs.key); !found.empty()) return "stale: " + found;
  return {};
}

const Hold* find_hold(const Inputs& inputs, const Variant& variant) {
  if (variant.place == VariantPlace::working_tree) return nullptr;
  const auto found = std::find_if(inputs.holds.begin(), inputs.holds.end(), [&](const Hold& hold) {
    return hold.kernel == inputs.kernel && hold.architecture == inputs.architecture &&
           hold.source_hash == variant.evidence.source_hash;
  });
  return found == inputs.holds.end() ? nullptr : &*found;
}

std::string hindrance(const Inputs& inputs, const Variant& variant) {
  if (variant.place == VariantPlace::remote_branch && !inputs.remote_variants)
    return "not looked at: remote variants are off (KAGENT_REMOTE_VARIANTS)";
  if (std::string found = mismatch(inputs, variant); !found.empty()) return found;
  if (const Hold* hold = find_hold(inputs, variant))
    return "held back by a rollback on " + hold->since + "; kagent rollback " + inputs.kernel + " --release";
  if (inputs.require_reviewed && !is_reviewed(variant, inputs.reviews))
    return "not reviewed: " + inputs.architecture + " is new here, and REQUIRE_REVIEWED is set; kagent review " +
           inputs.kernel + " --confirm";
  return {};
}

// "kagent/...: variant.json: ..." -> reference and reason.
Consideration broken(const std::string& line) {
  const auto colon = line.find(": ");
  if (colon == std::string::npos) return {line, false, "broken"};
  return {line.substr(0, colon), false, "broken: " + line.substr(colon + 2)};
}

}  // namespace

Choice choose(const Inputs& inputs) {
  Choice choice{inputs.architecture, std::nullopt, {}};
  for (const auto* place : {&inputs.working_tree, &inputs.local_branches, &inputs.remote_branches})
    for (const Variant& variant : *place) {
      if (choice.variant) {
        choice.considered.push_back(
            {variant.reference, false, "not looked at: " + choice.variant->reference + " is taken"});
        continue;
      }
      const std::string reason = hindrance(inputs, variant);
      const bool looked_at = variant.evidence.reviewed || is_reviewed(variant, inputs.reviews);
      const std::string match = looked_at ? "matches" : "matches; nobody has reviewed it yet (kagent review)";
      choice.considered.push_back({variant.reference, reason.empty(), reason.empty() ? match : reason});
      if (reason.empty()) choice.variant = variant;
    }
  for (const std::string& line : inputs.broken) choice.considered.push_back(broken(line));
  if (!choice.variant)
    choice.considered.push_back(
        {"baseline", true, choice.considered.empty() ? "there is no variant" : "no variant fits"});
  return choice;
}

bool has_result(const Inputs& inputs) {
  const auto fits = [&](const Variant& variant) { return mismatch(inputs, variant).empty(); };
  return std::any_of(inputs.working_tree.begin(), inputs.working_tree.end(), fits) ||
         std::any_of(inputs.local_branches.begin(), inputs.local_branches.end(), fits) ||
         (inputs.remote_variants && std::any_of(inputs.remote_branches.begin(), inputs.remote_branches.end(), fits));
}

}  // namespace kagent::selection
