// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/judge.h"

namespace kagent::judge {
namespace {

bool is_time(double value) {
  return std::isfinite(value) && value > 0;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double pair_log_ratio(const PairSamples& samples) {
  const std::size_t count = std::min(samples.incumbent_ns.size(), samples.candidate_ns.size());
  auto log_ratio = [&samples](std::size_t i) {
    const double incumbent = samples.incumbent_ns[i], candidate = samples.candidate_ns[i];
    return is_time(incumbent) && is_time(candidate) ? std::log(candidate / incumbent)
                                                    : std::numeric_limits<double>::quiet_NaN();
  };
  std::vector<double> blocks;
  for (std::size_t i = 0; i + 1 < count; i += 2)
    if (const double block = (log_ratio(i) + log_ratio(i + 1)) / 2; !std::isnan(block)) blocks.push_back(block);
  if (count % 2 == 1)
    if (const double last = log_ratio(count - 1); !std::isnan(last)) blocks.push_back(last);
  return median(std::move(blocks));
}

}  // namespace kagent::judge
