// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "values/error.h"

namespace kagent::store {

// Unified diff of two texts under the given names; empty if they are equal.
Result<std::string> text_diff(const std::string& from, const std::string& from_name, const std::string& to,
                              const std::string& to_name);

}  // namespace kagent::store
