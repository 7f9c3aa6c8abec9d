// SPDX-License-Identifier: Apache-2.0
#include "cli/json_output.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace kagent::cli {

std::string json_text(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void print_json(const nlohmann::ordered_json& document) {
  fmt::print("{}\n", json_text(document));
}

}  // namespace kagent::cli
