// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "proposer/space.h"

namespace kagent::proposer {

// Points as numbers that a surrogate can learn from, all about in [0, 1].
class Encoding {
 public:
  explicit Encoding(const Space& space);

  // For each tunable its place among its values (half by rank, half by logarithm), and, where the values are no mere
  // powers of two, how often it is divisible by two: alignment is what hardware has a taste for.
  std::size_t width() const { return columns_.size(); }
  void encode(const Point& point, double* row) const;

  // The same, then log(a b) and log(a / b) of each two tunables: areas and aspect ratios, which a tree that cuts one
  // column at a time cannot see otherwise. Left out where there would be too many.
  std::size_t wide_width() const { return width() + 2 * pairs_.size(); }
  void encode_wide(const Point& point, double* row) const;

  // A distance for spreading points out: differences along the columns, and whether values differ at all.
  double distance(const Point& a, const Point& b) const;

 private:
  struct Column {
    std::size_t dimension;
    std::vector<double> of_choice;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<double>> place_;      // a dimension, a choice
  std::vector<std::vector<double>> logarithm_;  // a dimension, a choice; empty if a value is not positive
  std::vector<std::pair<std::size_t, std::size_t>> pairs_;
};

}  // namespace kagent::proposer
