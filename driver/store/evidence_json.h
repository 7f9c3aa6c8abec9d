// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "values/error.h"
#include "values/variant.h"

namespace kagent::store {

// variant.json: fixed order of keys, doubles that read back as they were, invalid UTF-8 replaced.
std::string to_json(const Evidence& evidence);

// A decision alone, in the same form as within variant.json.
std::string to_json(const Decision& decision);

// Strict, because anybody may write a branch: a missing, unknown or repeated key, a wrong type, a number out of range,
// deep nesting and another format version are errors that name the place ("/against_baseline/cases/0/ratio").
Result<Evidence> evidence_from_json(std::string_view text);

// More than any real evidence by far; longer text is refused unread.
constexpr std::size_t kLargestEvidenceBytes = 4 << 20;

}  // namespace kagent::store
