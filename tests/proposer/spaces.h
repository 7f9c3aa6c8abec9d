// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "proposer/search.h"

namespace kagent::proposer {

inline Expression expression(const std::string& text) {
  return Expression::parse(text).value();
}

inline std::vector<std::int64_t> counted(std::int64_t count, std::int64_t first = 0) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(first + i);
  return values;
}

// `count` tunables T0, T1, ... with the same values.
inline SearchSpace product(int count, const std::vector<std::int64_t>& values,
                           const std::vector<std::string>& constraints = {}) {
  SearchSpace space;
  for (int i = 0; i < count; ++i) space.tunables.push_back({"T" + std::to_string(i), values});
  for (const std::string& text : constraints) space.constraints.push_back(expression(text));
  return space;
}

}  // namespace kagent::proposer
