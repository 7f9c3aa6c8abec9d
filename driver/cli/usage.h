// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "values/candidate.h"

namespace kagent::cli {

// What models used, a role each, as lines for people: none for a role that was not asked.
std::string usage_text(const std::map<std::string, Usage>& usage);
// "12 tokens read (3 of them cached), 4 written, 0.1 in cost"
std::string tokens_text(const Usage& usage);
// The same as members; usage_json() adds the seconds that a provider was waited for.
nlohmann::ordered_json tokens_json(const Usage& usage);
nlohmann::ordered_json usage_json(const std::map<std::string, Usage>& usage);

}  // namespace kagent::cli
