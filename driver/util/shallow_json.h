// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace kagent::util {

// Whether JSON is nested deeper than anything that is meant: brackets alone would take a hundred times their size in
// memory, and to copy or to print what they make takes more stack than there is.
bool nests_too_deeply(std::string_view text);

// JSON of somebody else, read as far as it makes sense: not a value ("discarded") where it does not parse, or is nested
// too deeply.
nlohmann::ordered_json parse_shallow(std::string_view text);

}  // namespace kagent::util
