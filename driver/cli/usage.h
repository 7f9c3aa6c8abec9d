// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "values/candidate.h"

namespace kagent::cli {

// What models used, a role each, as lines for people: none for a role that was not asked.
std::string usage_text(const std::map<std::string, Usage>& usage);
nlohmann::ordered_json usage_json(const std::map<std::string, Usage>& usage);

}  // namespace kagent::cli
