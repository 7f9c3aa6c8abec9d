// SPDX-License-Identifier: Apache-2.0
#include "judge/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "judge/student_t.h"

namespace kagent::judge {
namespace {

double mean(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += values[i];
  return sum / static_cast<double>(end - begin);
}

double sum_of_squares(const std::vector<double>& values, double about) {
  double sum = 0;
  for (const double value : values) sum += (value - about) * (value - about);
  return sum;
}

}  // namespace

Interval trimmed_interval(std::vector<double> values, double trim, double alpha) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (values.empty()) return {0, -kInfinity, kInfinity};
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  const auto cut = static_cast<std::size_t>(trim * static_cast<double>(count));
  const std::size_t kept = count - 2 * cut;
  const double center = mean(values, cut, count - cut);
  if (kept < 2) return {center, -kInfinity, kInfinity};
  for (std::size_t i = 0; i < cut; ++i) {
    values[i] = values[cut];
    values[count - 1 - i] = values[count - 1 - cut];
  }
  const double squares = sum_of_squares(values, mean(values, 0, count));
  const double error = std::sqrt(squares / (static_cast<double>(kept) * static_cast<double>(kept - 1)));
  const double half = student_t_quantile(alpha, static_cast<int>(kept) - 1) * error;
  return {center, center - half, center + half};
}

Comparison classify(const Interval& interval, double min_gain) {
  const double margin = std::log1p(min_gain);
  if (interval.high < 0 && interval.center <= -margin) return Comparison::faster;
  if (interval.low > 0 && interval.center >= margin) return Comparison::slower;
  if (interval.low >= -margin && interval.high <= margin) return Comparison::same;
  return Comparison::ambiguous;
}

}  // namespace kagent::judge
