// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "spec/problems.h"
#include "util/strict_json.h"

namespace kagent::spec {

using util::Json;
using util::parse_strictly;

}  // namespace kagent::spec
