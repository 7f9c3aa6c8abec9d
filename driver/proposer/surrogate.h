// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace kagent::proposer {

// Rows of equal width, one a point.
struct Rows {
  std::size_t width = 0;
  std::vector<double> numbers;

  std::size_t count() const { return width == 0 ? 0 : numbers.size() / width; }
  const double* row(std::size_t index) const { return numbers.data() + index * width; }
  double* append() {
    numbers.resize(numbers.size() + width);
    return numbers.data() + numbers.size() - width;
  }
};

// What a surrogate expects at a point.
struct Belief {
  double mean = 0;
  double deviation = 1;
};

// Indices of at most `count` targets: the lower half of them the lowest, the others evenly chosen by rank. What matters
// near the best, and the wide view, at a bounded cost.
std::vector<std::size_t> representative(const std::vector<double>& targets, std::size_t count);

// Logarithm of the expected improvement below `best` (Jones, Schonlau, Welch 1998), finite also far away from it.
double log_expected_improvement(const Belief& belief, double best);

}  // namespace kagent::proposer
