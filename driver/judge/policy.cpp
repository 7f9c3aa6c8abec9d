// SPDX-License-Identifier: Apache-2.0
#include "judge/policy.h"

#include <algorithm>

namespace kagent::judge {

const char* problem(const Policy& policy) {
  if (!(policy.min_gain >= kSmallestGain)) return "min_gain is under 0.005, less than processes can tell";
  if (!(policy.max_regression >= 0)) return "max_regression is negative";
  if (!(policy.confidence > 0 && policy.confidence < 1)) return "confidence is not between 0 and 1";
  if (policy.looks.empty() || policy.looks.front() < 4) return "the first look needs at least 4 pairs";
  if (!std::is_sorted(policy.looks.begin(), policy.looks.end())) return "the looks are not in order";
  return "";
}

}  // namespace kagent::judge
