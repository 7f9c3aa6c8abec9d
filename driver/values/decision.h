// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kagent {

enum class Comparison { faster, slower, same, ambiguous };

std::string_view name(Comparison comparison);

// Ratio time(candidate) / time(incumbent) of one timed case; < 1 is faster.
struct CaseRatio {
  std::string case_name;
  double weight = 1;
  double incumbent_ns = 0;  // time of one call: lower quartile of a pair's samples, median over the pairs
  double candidate_ns = 0;
  double ratio = 1;
  double low = 1, high = 1;  // confidence interval of the ratio
  int pairs = 0;             // process pairs: the unit of the statistics
  Comparison comparison = Comparison::ambiguous;
};

struct Decision {
  Comparison comparison = Comparison::ambiguous;
  bool accepted = false;
  double ratio = 1;  // weighted over the cases (geometric mean)
  double low = 1, high = 1;
  double confidence = 0.99;
  std::vector<CaseRatio> cases;
  std::string reason;  // one line
};

}  // namespace kagent
