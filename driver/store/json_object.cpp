// SPDX-License-Identifier: Apache-2.0
#include "store/json_object.h"

#include <vector>

namespace kagent::store {
namespace {

constexpr int kDeepest = 16;  // the formats themselves nest five levels

}  // namespace

// The parser keeps the last of two equal keys and says nothing: what a person reads could differ from what counts.
Json parse_strictly(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  auto watch = [&keys](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kDeepest) throw Flaw("nested too deeply");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      throw Flaw("key '" + parsed.get<std::string>() + "' is there twice");
    return true;
  };
  return Json::parse(text, watch);
}

}  // namespace kagent::store
