// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "judge/policy.h"
#include "values/decision.h"

namespace kagent::judge {

// Samples of one fresh pair of processes, one timed case each: the unit of the statistics.
struct PairSamples {
  std::vector<double> incumbent_ns;  // time of a call, one value a sample, in the order taken
  std::vector<double> candidate_ns;  // same length; samples 2i and 2i + 1 of both are one ABBA block
};

struct TimedCase {
  std::string name;
  double weight = 1;
};

// Log ratio candidate/incumbent that one pair saw: the median over its ABBA blocks. A block in which a time is missing
// (not finite, not positive) is dropped whole; NaN if none is left.
double pair_log_ratio(const PairSamples& samples);

double median(std::vector<double> values);  // NaN if empty

// `pairs[p][c]`: samples of pair p in case c. `accepted` and comparison `faster` are one: the weighted ratio is faster
// and every timed case is shown to lose no more than max_regression. A case that loses more makes the whole `slower`.
// To be called at policy.looks, and where the time ends before the last of them.
Decision decide(const Policy& policy, const std::vector<TimedCase>& cases,
                const std::vector<std::vector<PairSamples>>& pairs);

// Whether more pairs could still turn the decision into `faster`.
bool worth_more_pairs(const Policy& policy, const Decision& decision, int pairs_so_far);

}  // namespace kagent::judge
