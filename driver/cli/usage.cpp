// SPDX-License-Identifier: Apache-2.0
#include "cli/usage.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "util/text.h"

namespace kagent::cli {

std::string tokens_text(const Usage& usage) {
  return fmt::format("{} tokens read ({} of them cached), {} written, {:.4g} in cost", usage.input_tokens,
                     usage.cached_tokens, usage.output_tokens, usage.cost);
}

nlohmann::ordered_json tokens_json(const Usage& usage) {
  return {{"input_tokens", usage.input_tokens},
          {"cached_tokens", usage.cached_tokens},
          {"output_tokens", usage.output_tokens},
          {"cost", usage.cost}};
}

std::string usage_text(const std::map<std::string, Usage>& usage) {
  std::string text;
  for (const auto& [role, used] : usage)
    if (used.input_tokens + used.output_tokens > 0)
      text += fmt::format("  {}: {}, {:.0f} s of waiting\n", util::clean(role, 100), tokens_text(used), used.seconds);
  return text;
}

nlohmann::ordered_json usage_json(const std::map<std::string, Usage>& usage) {
  auto roles = nlohmann::ordered_json::object();
  for (const auto& [role, used] : usage) {
    roles[role] = tokens_json(used);
    roles[role]["seconds"] = used.seconds;
  }
  return roles;
}

}  // namespace kagent::cli
