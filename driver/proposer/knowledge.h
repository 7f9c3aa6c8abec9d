// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <unordered_set>
#include <vector>

#include "proposer/space.h"

namespace kagent::proposer {

struct PointHash {
  std::size_t operator()(const Point& point) const;
};
using PointSet = std::unordered_set<Point, PointHash>;

inline constexpr std::size_t kStrategies = 4;

// The observations, a point once each, whatever their order: repeated times become their median.
struct Knowledge {
  Knowledge(const Space& space, const std::vector<Observation>& observations);

  std::vector<Point> scored;      // in the order of first observation
  std::vector<double> log_times;  // parallel to scored
  std::vector<Point> failed;
  std::vector<std::size_t> best_first;  // indices of scored, fastest first
  PointSet tried;                       // all of them, and those without an answer

  // How well each strategy's latest points did: the mean share of scored points that they beat, 0 for a failure; drawn
  // to 1/2 where there are few.
  std::array<double, kStrategies> reward{};
};

}  // namespace kagent::proposer
