// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "proposer/random.h"
#include "proposer/surrogate.h"

namespace kagent::proposer {

// Extremely randomised trees (Geurts, Ernst, Wehenkel 2006): each split is the best of random cuts in a random share of
// the columns. The spread between trees, and inside their leaves, is the uncertainty (Hutter et al. 2014).
class Forest {
 public:
  // `rows` and `targets` are parallel and not empty.
  Forest(const Rows& rows, const std::vector<double>& targets, int trees, Random& random);

  Belief predict(const double* row) const;

 private:
  struct Node {
    std::int32_t column = -1;  // a leaf
    std::int32_t right = 0;    // the left child follows its parent
    double cut = 0;            // rows up to it go left
    double mean = 0, variance = 0;
  };
  struct Growth;

  std::vector<Node> nodes_;
  std::vector<std::size_t> roots_;
};

}  // namespace kagent::proposer
