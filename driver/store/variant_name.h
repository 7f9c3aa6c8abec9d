// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "values/error.h"

namespace kagent::store {

// The parts of a variant's branch, kagent/<kernel>/<architecture>/g<NNN>-<hash8>.
struct VariantName {
  std::string kernel;
  std::string architecture;
  int generation = 0;
  std::string hash8;  // first 8 hex digits of the source's SHA-256

  std::string branch() const;
};

// Inverse of branch(), exact; nothing for any other text.
std::optional<VariantName> parse_variant_name(std::string_view branch);

// "g003".
std::string generation_name(int generation);
// Inverse, also of "3" and "g3"; "baseline" is 0. Nothing for any other text.
std::optional<int> parse_generation(std::string_view text);

// Kernel and architecture become folders and parts of branches: letters, digits and . _ + - only, no leading dot or
// dash, no "..", no ".lock" or dot at the end.
Result<void> check_name_part(std::string_view what, std::string_view name);

}  // namespace kagent::store
