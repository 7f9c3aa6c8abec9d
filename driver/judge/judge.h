// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "values/decision.h"

namespace kagent::judge {

// Samples of one fresh pair of processes, one timed case each: the unit of the statistics.
struct PairSamples {
  std::vector<double> incumbent_ns;  // time of a call, one value a sample, in the order taken
  std::vector<double> candidate_ns;  // same length; sample i of both lie next to each other in time (ABBA)
};

struct TimedCase {
  std::string name;
  double weight = 1;
};

// When to look, and what counts. Every number has its reason in policy.h's comments (facts: measuring).
struct Policy {
  double min_gain = 0.01;        // never under 0.005 across processes
  double max_regression = 0.01;
  double confidence = 0.99;      // of the final verdict, all looks together
  std::vector<int> looks{4, 8, 16};  // numbers of pairs at which a decision is tried
};

// Log ratio candidate/incumbent that one pair saw (median over its ABBA blocks).
double pair_log_ratio(const PairSamples& samples);

// `pairs[p][c]`: samples of pair p in case c. Decides if it can be decided after so many pairs, else comparison is
// ambiguous and more pairs may be asked for while fewer than looks.back().
Decision decide(const Policy& policy, const std::vector<TimedCase>& cases,
                const std::vector<std::vector<PairSamples>>& pairs);

}  // namespace kagent::judge
