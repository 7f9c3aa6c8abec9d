// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "values/variant.h"

namespace kagent {

// One thing that selection looked at and what came of it.
struct Consideration {
  std::string reference;
  bool taken = false;
  std::string reason;  // "matches", "stale: header tile.h changed", "not looked at: remote variants are off"
};

// What a build compiles for one architecture of a kernel, and why. No variant: the baseline.
struct Choice {
  std::string architecture;
  std::optional<Variant> variant;
  std::vector<Consideration> considered;  // in the order of looking
};

}  // namespace kagent
