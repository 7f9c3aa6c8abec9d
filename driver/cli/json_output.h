// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace kagent::cli {

// What --json prints of a document: over several lines, two spaces a level. Bytes that are no UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& document);
void print_json(const nlohmann::ordered_json& document);

}  // namespace kagent::cli
