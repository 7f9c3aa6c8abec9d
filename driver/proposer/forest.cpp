// SPDX-License-Identifier: Apache-2.0
#include "proposer/forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace kagent::proposer {
namespace {

// Share of the columns that compete for a split.
constexpr double kColumnShare = 0.7;
constexpr double kNoVariance = 1e-12;

struct Sums {
  double count = 0, sum = 0, squares = 0;
  void add(double target) { count += 1, sum += target, squares += target * target; }
  double error() const { return squares - sum * sum / count; }
};

struct Split {
  std::int32_t column = -1;
  double cut = 0;
  double error = std::numeric_limits<double>::infinity();
};

}  // namespace

struct Forest::Growth {
  const Rows& rows;
  const std::vector<double>& targets;
  Random& random;
  std::vector<Node>& nodes;
  std::vector<std::size_t> members;  // indices of rows; a node owns a range of them
  std::vector<std::int32_t> columns;

  // Error of the two sides after one random cut of the column; infinite if the column is the same for all.
  bool try_cut(std::int32_t column, std::size_t first, std::size_t last, Split& best) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t i = first; i < last; ++i) {
      const double number = rows.row(members[i])[column];
      low = std::min(low, number);
      high = std::max(high, number);
    }
    if (!(low < high)) return false;
    const double cut = low + (high - low) * random.uniform();
    Sums left, right;
    for (std::size_t i = first; i < last; ++i)
      (rows.row(members[i])[column] <= cut ? left : right).add(targets[members[i]]);
    if (left.count == 0 || right.count == 0) return true;
    const double error = left.error() + right.error();
    if (error < best.error) best = {column, cut, error};
    return true;
  }

  Split find_split(std::size_t first, std::size_t last) {
    Split best;
    const auto wanted = static_cast<int>(std::ceil(kColumnShare * static_cast<double>(columns.size())));
    int tried = 0;
    for (std::size_t i = 0; i < columns.size() && tried < wanted; ++i) {
      std::swap(columns[i], columns[i + random.below(columns.size() - i)]);
      if (try_cut(columns[i], first, last, best)) ++tried;
    }
    return best;
  }

  void grow(std::size_t first, std::size_t last) {
    Sums all;
    for (std::size_t i = first; i < last; ++i) all.add(targets[members[i]]);
    const std::size_t self = nodes.size();
    nodes.push_back({-1, 0, 0, all.sum / all.count, std::max(0.0, all.error() / all.count)});
    if (last - first < 2 || nodes[self].variance < kNoVariance) return;
    const Split split = find_split(first, last);
    if (split.column < 0) return;
    const auto begin = members.begin();
    const auto middle =
        std::partition(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last),
                       [&](std::size_t i) { return rows.row(i)[split.column] <= split.cut; });
    const auto border = static_cast<std::size_t>(middle - begin);
    nodes[self].column = split.column;
    nodes[self].cut = split.cut;
    grow(first, border);
    nodes[self].right = static_cast<std::int32_t>(nodes.size());
    grow(border, last);
  }
};

Forest::Forest(const Rows& rows, const std::vector<double>& targets, int trees, Random& random) {
  Growth growth{
      rows, targets, random, nodes_, std::vector<std::size_t>(targets.size()), std::vector<std::int32_t>(rows.width)};
  std::iota(growth.members.begin(), growth.members.end(), std::size_t{0});
  std::iota(growth.columns.begin(), growth.columns.end(), 0);
  for (int i = 0; i < trees; ++i) {
    roots_.push_back(nodes_.size());
    growth.grow(0, targets.size());
  }
}

Belief Forest::predict(const double* row) const {
  double sum = 0, squares = 0;
  for (std::size_t at : roots_) {
    while (nodes_[at].column >= 0)
      at = row[nodes_[at].column] <= nodes_[at].cut ? at + 1 : static_cast<std::size_t>(nodes_[at].right);
    sum += nodes_[at].mean;
    squares += nodes_[at].mean * nodes_[at].mean + nodes_[at].variance;
  }
  const double count = static_cast<double>(roots_.size());
  const double mean = sum / count;
  return {mean, std::sqrt(std::max(squares / count - mean * mean, kNoVariance))};
}

}  // namespace kagent::proposer
