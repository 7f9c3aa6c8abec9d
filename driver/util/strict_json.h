// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "util/problems.h"

namespace kagent::util {

using Json = nlohmann::ordered_json;

// Parses RFC 8259 JSON and nothing beside it: no comments, no byte order mark, no duplicate keys (the last one would
// win unseen), no deep nesting. Null when it does not parse; duplicate keys are reported and the first one is kept.
Json parse_strictly(const std::string& text, Problems& problems);

}  // namespace kagent::util
