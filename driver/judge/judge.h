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
  std::vector<double> candidate_ns;  // same length; sample i of both lie next to each other in time (ABBA)
};

struct TimedCase {
  std::string name;
  double weight = 1;
};

// The sample at a share of the sorted values, between two of them in proportion; NaN if there are none.
double quantile(std::vector<double> values, double share);
double median(std::vector<double> values);

// The samples without those positions at which a time is missing (not finite, not positive) on either side.
PairSamples complete(const PairSamples& samples);

// Log ratio candidate/incumbent that one pair saw, at kSampleQuantile of the samples of each; NaN if there are none.
double pair_log_ratio(const PairSamples& samples);

// `pairs[p][c]`: samples of pair p in case c. `accepted` and comparison `faster` are one: the weighted ratio is faster
// and every timed case is shown to lose no more than max_regression, in the middle of its samples too. A case that
// loses more makes the whole `slower`. To be called at policy.looks, and where the time ends before the last of them.
Decision decide(const Policy& policy, const std::vector<TimedCase>& cases,
                const std::vector<std::vector<PairSamples>>& pairs);

// Whether more pairs could still turn the decision into `faster`.
bool worth_more_pairs(const Policy& policy, const Decision& decision, int pairs_so_far);

}  // namespace kagent::judge
