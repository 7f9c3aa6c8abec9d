// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "judge/judge.h"

namespace kagent::judge {
namespace {

bool is_time(double value) {
  return std::isfinite(value) && value > 0;
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const double position = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const double part = position - static_cast<double>(below);
  return below + 1 < values.size() ? values[below] * (1 - part) + values[below + 1] * part : values[below];
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

PairSamples complete(const PairSamples& samples) {
  PairSamples kept;
  const std::size_t count = std::min(samples.incumbent_ns.size(), samples.candidate_ns.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_time(samples.incumbent_ns[i]) || !is_time(samples.candidate_ns[i])) continue;
    kept.incumbent_ns.push_back(samples.incumbent_ns[i]);
    kept.candidate_ns.push_back(samples.candidate_ns[i]);
  }
  return kept;
}

double pair_log_ratio(const PairSamples& samples) {
  const PairSamples kept = complete(samples);
  return std::log(quantile(kept.candidate_ns, kSampleQuantile) / quantile(kept.incumbent_ns, kSampleQuantile));
}

}  // namespace kagent::judge
