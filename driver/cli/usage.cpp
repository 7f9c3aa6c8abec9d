// SPDX-License-Identifier: Apache-2.0
#include "cli/usage.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "util/text.h"

namespace kagent::cli {

std::string usage_text(const std::map<std::string, Usage>& usage) {
  std::string text;
  for (const auto& [role, used] : usage)
    if (used.input_tokens + used.output_tokens > 0)
      text += fmt::format("  {}: {} tokens read ({} of them cached), {} written, {:.4g} in cost, {:.0f} s of waiting\n",
                          util::clean(role, 100), used.input_tokens, used.cached_tokens, used.output_tokens, used.cost,
                          used.seconds);
  return text;
}

nlohmann::ordered_json usage_json(const std::map<std::string, Usage>& usage) {
  auto roles = nlohmann::ordered_json::object();
  for (const auto& [role, used] : usage)
    roles[role] = {{"input_tokens", used.input_tokens},
                   {"cached_tokens", used.cached_tokens},
                   {"output_tokens", used.output_tokens},
                   {"cost", used.cost},
                   {"seconds", used.seconds}};
  return roles;
}

}  // namespace kagent::cli
