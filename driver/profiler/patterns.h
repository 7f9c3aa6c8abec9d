// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "values/bottleneck.h"
#include "values/error.h"

namespace kagent::profiler {

// What the rules look at: numbers under short names ("memory_pct", "registers"). One that is not known is left out.
using Numbers = std::map<std::string, double>;

struct Condition {
  std::string name;
  bool above = true;  // else below
  double bound = 0;
};

// One known way of losing time. It shows where every condition of `when` holds and not all of `unless` do; a condition
// on a number that is not known does not hold.
struct PatternRule {
  std::string name, evidence, advice, source;
  std::vector<Condition> when, unless;
  // Severity: the number's way from `from` to `to`, between `least` and `most`.
  std::string cost;
  double from = 0, to = 1, least = 0, most = 1;
};

// The rules of a file such as patterns.json; an error names the rule and what is wrong with it.
Result<std::vector<PatternRule>> parse_patterns(std::string_view json);
// The rules that come with kagent.
const std::vector<PatternRule>& known_patterns();

// What the numbers show, the costliest first.
std::vector<Pattern> find_patterns(const std::vector<PatternRule>& rules, const Numbers& numbers);

}  // namespace kagent::profiler
