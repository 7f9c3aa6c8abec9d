// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "proposer/edits.h"

namespace kagent::proposer {

// The lines of the source that are most like `search`: windows of as many lines are ranked by the words that they
// share, and the first few are compared by edit distance in words. Linear in the source, and bounded in the search.
NearestMatch nearest_match(std::string_view source, std::string_view search, std::size_t* steps = nullptr);

}  // namespace kagent::proposer
