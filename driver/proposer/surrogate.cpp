// SPDX-License-Identifier: Apache-2.0
#include "proposer/surrogate.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace kagent::proposer {

std::vector<std::size_t> representative(const std::vector<double>& targets, std::size_t count) {
  std::vector<std::size_t> order(targets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= count) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return targets[a] < targets[b]; });
  const std::size_t best = count / 2, rest = count - best;
  for (std::size_t i = 0; i < rest; ++i) order[best + i] = order[best + i * (order.size() - best) / rest];
  order.resize(count);
  return order;
}

double log_expected_improvement(const Belief& belief, double best) {
  const double deviation = std::max(belief.deviation, 1e-9);
  const double z = std::clamp((best - belief.mean) / deviation, -1e6, 1e6);
  const double log_density = -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi);
  // Below z = -5 the difference of two nearly equal terms: its asymptotic series instead.
  const double log_gain = z > -5 ? std::log(z * 0.5 * std::erfc(-z / std::numbers::sqrt2) + std::exp(log_density))
                                 : log_density - 2 * std::log(-z) + std::log1p((15 / (z * z) - 3) / (z * z));
  return std::log(deviation) + log_gain;
}

}  // namespace kagent::proposer
