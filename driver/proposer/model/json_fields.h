// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace kagent::proposer::model {

// Members of replies, which may be missing, null or of any other type than promised: then they count as empty.

using Json = nlohmann::ordered_json;

inline const Json& field(const Json& object, const char* key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

inline std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

inline std::optional<std::int64_t> count_of(const Json& value) {
  // What providers count is far below; above, sums could overflow.
  constexpr std::int64_t kMost = 1'000'000'000'000;
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(kMost)) return std::nullopt;
  const auto count = value.get<std::int64_t>();
  return count < 0 ? std::nullopt : std::optional(count);
}

// Invalid UTF-8 never throws.
inline std::string dumped(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kagent::proposer::model
