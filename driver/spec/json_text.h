// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "util/strict_json.h"

namespace kagent::spec {

// JSON as people write it: two spaces of indentation, and whatever fits into a line of 100 characters on one line.
// Key order is kept.
std::string json_text(const util::Json& value);

}  // namespace kagent::spec
