// SPDX-License-Identifier: Apache-2.0
#include "util/shallow_json.h"

#include <nlohmann/json.hpp>

namespace kagent::util {

bool nests_too_deeply(std::string_view text) {
  constexpr int kMaxDepth = 64;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') ++i;
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kMaxDepth) return true;
  }
  return false;
}

nlohmann::ordered_json parse_shallow(std::string_view text) {
  using Json = nlohmann::ordered_json;
  return nests_too_deeply(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

}  // namespace kagent::util
