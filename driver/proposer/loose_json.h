// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kagent::proposer {

// A JSON object found in a text, made strict: models write line ends inside strings, typographic quotes, commas before
// a closing bracket, comments, and None for null.
struct LooseObject {
  std::size_t begin = 0, end = 0;  // in the text
  std::string strict;
  bool closed = false;  // false: the text ends inside of it
};

// The next object at or behind `from`: a brace, and behind it a quoted name and a colon. One pass over what it holds.
std::optional<LooseObject> next_object(std::string_view text, std::size_t from);

}  // namespace kagent::proposer
