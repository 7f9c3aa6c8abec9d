// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "proposer/random.h"
#include "proposer/surrogate.h"

namespace kagent::proposer {

// Gaussian process with a Matern 5/2 kernel, one length a column, a constant mean and noise (Rasmussen, Williams 2006).
class GaussianProcess {
 public:
  // `rows` and `targets` are parallel, at least two. Lengths and noise are the best found (posterior density with a
  // wide prior) by a short random search on at most kFitted of the points.
  GaussianProcess(Rows rows, std::vector<double> targets, Random& random);

  // False if the numbers were too degenerate to be worked with.
  bool usable() const { return usable_; }
  double similarity(const double* a, const double* b) const;
  // The mean is exact; the deviation is an upper bound, from the most similar known point alone. O(n).
  Belief sketch(const double* row) const;

  // Points of which one after the other is chosen, each choice lowering the deviation of what is like it.
  class Selection {
   public:
    Selection(const GaussianProcess& process, Rows candidates);
    std::size_t count() const { return candidates_.count(); }
    Belief belief(std::size_t index) const;
    void choose(std::size_t index);

   private:
    const GaussianProcess& process_;
    Rows candidates_;
    std::vector<std::vector<double>> solved_;  // L^-1 k of each candidate, longer with each choice
    std::vector<double> means_, shares_;       // shares of the prior variance that are left
  };

 private:
  bool factorise();
  double log_density();
  void search_lengths(Random& random);
  GaussianProcess() = default;
  std::vector<double> solve_lower(std::vector<double> right) const;

  Rows rows_;
  std::vector<double> targets_;
  std::vector<double> inverse_lengths_;
  double noise_ = 0.01;   // variance, as a share of amplitude_
  double amplitude_ = 1;  // prior variance
  double mean_ = 0;
  std::vector<double> factor_;    // L, dense, row by row
  std::vector<double> whitened_;  // L^-1 (y - mean)
  std::vector<double> weights_;   // (L L^T)^-1 (y - mean)
  bool usable_ = false;
};

}  // namespace kagent::proposer
