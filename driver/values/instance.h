// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kagent {

// Whether the text names an instance of the template `entry` and does nothing beside it: "softmax_rows<float, BLOCK>".
// It becomes part of a source, so quotes, statements and further expressions are refused.
bool is_instance_of(std::string_view text, std::string_view entry);

}  // namespace kagent
