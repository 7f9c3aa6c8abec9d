// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "proposer/encoding.h"
#include "proposer/knowledge.h"
#include "proposer/space.h"
#include "proposer/surrogate.h"

namespace kagent::proposer {

// The untried points among which strategies choose: all of a small space; of a large one a random sample, and what lies
// around and between the best points so far.
class Pool {
 public:
  Pool(const Space& space, const Encoding& encoding, const Knowledge& knowledge, Random& random);

  // True if it holds every untried valid point.
  bool complete() const { return complete_; }
  std::size_t size() const { return points_.size(); }
  const Point& point(std::size_t index) const { return points_[index]; }
  const double* row(std::size_t index) const { return rows_.row(index); }
  const double* wide_row(std::size_t index) const { return wide_rows_.row(index); }

  // The score of each point. In a pool that is not complete, neighbours of the highest are added and scored, a few
  // times over.
  using Score = std::function<double(std::size_t index)>;
  std::vector<double> climb(const Score& score, Random& random);

 private:
  void add(Point point);
  void sample_large(Random& random);

  const Space& space_;
  const Encoding& encoding_;
  const Knowledge& knowledge_;
  bool complete_ = false;
  std::vector<Point> points_;
  PointSet known_;
  Rows rows_, wide_rows_;
};

}  // namespace kagent::proposer
