// SPDX-License-Identifier: Apache-2.0
#include "proposer/encoding.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kagent::proposer {
namespace {

// Beyond this the pairs would cost more time than they are worth.
constexpr std::size_t kMaxPairs = 45;

bool all_positive(const std::vector<std::int64_t>& values) {
  return std::all_of(values.begin(), values.end(), [](std::int64_t value) { return value > 0; });
}

std::vector<double> scaled(std::vector<double> numbers) {
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  const double least = *low, range = *high - *low;
  for (double& number : numbers) number = range > 0 ? (number - least) / range : 0.0;
  return numbers;
}

std::vector<double> ranks(const std::vector<std::int64_t>& values) {
  std::vector<std::int64_t> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> result;
  for (std::int64_t value : values)
    result.push_back(static_cast<double>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin()));
  return result;
}

std::vector<double> logarithms(const std::vector<std::int64_t>& values) {
  std::vector<double> result;
  for (std::int64_t value : values) result.push_back(std::log2(static_cast<double>(value)));
  return result;
}

// Trailing zero bits of each value; empty where they tell nothing that the size does not tell.
std::vector<double> alignments(const std::vector<std::int64_t>& values) {
  if (values.size() < 3 || !all_positive(values)) return {};
  const bool powers = std::all_of(values.begin(), values.end(), [](std::int64_t value) {
    return std::has_single_bit(static_cast<std::uint64_t>(value));
  });
  if (powers) return {};
  std::vector<double> zeros;
  for (std::int64_t value : values)
    zeros.push_back(static_cast<double>(std::countr_zero(static_cast<std::uint64_t>(value))));
  if (std::equal(zeros.begin() + 1, zeros.end(), zeros.begin())) return {};
  return zeros;
}

}  // namespace

Encoding::Encoding(const Space& space) {
  std::vector<std::size_t> varied;
  for (std::size_t dimension = 0; dimension < space.dimensions(); ++dimension) {
    const std::vector<std::int64_t>& values = space.tunable(dimension).values;
    std::vector<double> place = scaled(ranks(values));
    logarithm_.emplace_back();
    if (all_positive(values)) {
      const std::vector<double> logarithm = logarithms(values);
      const std::vector<double> even = scaled(logarithm);
      for (std::size_t i = 0; i < place.size(); ++i) place[i] = (place[i] + even[i]) / 2;
      logarithm_.back() = logarithm;
    }
    if (values.size() > 1) {
      columns_.push_back({dimension, place});
      if (all_positive(values)) varied.push_back(dimension);
    }
    place_.push_back(std::move(place));
    if (std::vector<double> zeros = alignments(values); !zeros.empty())
      columns_.push_back({dimension, scaled(std::move(zeros))});
  }
  if (varied.size() * (varied.size() - 1) / 2 <= kMaxPairs)
    for (std::size_t a = 0; a < varied.size(); ++a)
      for (std::size_t b = a + 1; b < varied.size(); ++b) pairs_.emplace_back(varied[a], varied[b]);
}

void Encoding::encode(const Point& point, double* row) const {
  for (const Column& column : columns_) *row++ = column.of_choice[point[column.dimension]];
}

void Encoding::encode_wide(const Point& point, double* row) const {
  encode(point, row);
  row += width();
  for (const auto& [a, b] : pairs_) {
    const double first = logarithm_[a][point[a]], second = logarithm_[b][point[b]];
    *row++ = first + second;
    *row++ = first - second;
  }
}

double Encoding::distance(const Point& a, const Point& b) const {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) sum += 0.25 + std::abs(place_[i][a[i]] - place_[i][b[i]]);
  return sum;
}

}  // namespace kagent::proposer
