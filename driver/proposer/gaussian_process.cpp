// SPDX-License-Identifier: Apache-2.0
#include "proposer/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace kagent::proposer {
namespace {

// Points on which lengths are searched: cubic in it, a fraction of a millisecond a step at this number.
constexpr std::size_t kFitted = 96;
constexpr int kSearchSteps = 60;
// Prior of a length (log-normal around 0.7 of a column's range) and of the noise (around 1 % of the variance).
constexpr double kUsualLength = 0.7, kLengthSpread = 1.0;
constexpr double kUsualNoise = 0.01, kNoiseSpread = 2.0;
constexpr double kLeastNoise = 1e-5, kMostNoise = 0.5;
constexpr double kLeastShare = 1e-6;

double squared(double x) {
  return x * x;
}

double dot(const double* a, const double* b, std::size_t count) {
  double even = 0, odd = 0;
  std::size_t i = 0;
  for (; i + 1 < count; i += 2) {
    even += a[i] * b[i];
    odd += a[i + 1] * b[i + 1];
  }
  if (i < count) even += a[i] * b[i];
  return even + odd;
}

}  // namespace

GaussianProcess::GaussianProcess(Rows rows, std::vector<double> targets, Random& random)
    : rows_(std::move(rows)), targets_(std::move(targets)), inverse_lengths_(rows_.width, 1 / kUsualLength) {
  noise_ = kUsualNoise;
  search_lengths(random);
  usable_ = factorise();
  if (!usable_) return;
  const std::size_t n = targets_.size();
  weights_ = whitened_;
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) weights_[i] -= factor_[j * n + i] * weights_[j];
    weights_[i] /= factor_[i * n + i];
  }
}

double GaussianProcess::similarity(const double* a, const double* b) const {
  double square = 0;
  for (std::size_t i = 0; i < inverse_lengths_.size(); ++i) square += squared((a[i] - b[i]) * inverse_lengths_[i]);
  const double distance = std::sqrt(5 * square);
  return (1 + distance + distance * distance / 3) * std::exp(-distance);
}

std::vector<double> GaussianProcess::solve_lower(std::vector<double> right) const {
  const std::size_t n = right.size();
  for (std::size_t i = 0; i < n; ++i)
    right[i] = (right[i] - dot(&factor_[i * n], right.data(), i)) / factor_[i * n + i];
  return right;
}

bool GaussianProcess::factorise() {
  const std::size_t n = targets_.size();
  factor_.assign(n * n, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double prior = similarity(rows_.row(i), rows_.row(j)) + (i == j ? noise_ : 0);
      const double left = prior - dot(&factor_[i * n], &factor_[j * n], j);
      if (i == j && !(left > 0)) return false;
      factor_[i * n + j] = i == j ? std::sqrt(left) : left / factor_[j * n + j];
    }
  const std::vector<double> ones = solve_lower(std::vector<double>(n, 1.0));
  whitened_ = solve_lower(targets_);
  mean_ = dot(ones.data(), whitened_.data(), n) / dot(ones.data(), ones.data(), n);
  for (std::size_t i = 0; i < n; ++i) whitened_[i] -= mean_ * ones[i];
  // A weak prior keeps the amplitude away from 0 when all targets are the same.
  amplitude_ = (dot(whitened_.data(), whitened_.data(), n) + 0.2) / (static_cast<double>(n) + 2);
  return std::isfinite(amplitude_);
}

double GaussianProcess::log_density() {
  if (!factorise()) return -1e300;
  const std::size_t n = targets_.size();
  double sum = -0.5 * static_cast<double>(n) * std::log(amplitude_);
  for (std::size_t i = 0; i < n; ++i) sum -= std::log(factor_[i * n + i]);
  for (double inverse : inverse_lengths_) sum -= 0.5 * squared(std::log(inverse * kUsualLength) / kLengthSpread);
  return sum - 0.5 * squared(std::log(noise_ / kUsualNoise) / kNoiseSpread);
}

void GaussianProcess::search_lengths(Random& random) {
  GaussianProcess best;
  best.rows_.width = rows_.width;
  best.inverse_lengths_ = inverse_lengths_;
  best.noise_ = noise_;
  for (std::size_t i : representative(targets_, kFitted)) {
    std::copy_n(rows_.row(i), rows_.width, best.rows_.append());
    best.targets_.push_back(targets_[i]);
  }
  double density = best.log_density();
  double step = 1;
  for (int i = 0; i < kSearchSteps; ++i) {
    GaussianProcess other = best;
    for (double& inverse : other.inverse_lengths_)
      if (random.uniform() < 0.4) {
        const double shift = 2 * (random.uniform() + random.uniform() + random.uniform() - 1.5);
        inverse = std::clamp(inverse * std::exp(shift * step), 0.05, 20.0);
      }
    if (random.uniform() < 0.4)
      other.noise_ = std::clamp(other.noise_ * std::exp(3 * (random.uniform() - 0.5)), kLeastNoise, kMostNoise);
    if (const double reached = other.log_density(); reached > density) {
      density = reached;
      best = std::move(other);
    }
    if (i % 20 == 19) step *= 0.6;
  }
  inverse_lengths_ = best.inverse_lengths_;
  noise_ = best.noise_;
}

Belief GaussianProcess::sketch(const double* row) const {
  double mean = mean_, nearest = 0;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const double like = similarity(row, rows_.row(i));
    mean += like * weights_[i];
    nearest = std::max(nearest, like);
  }
  return {mean, std::sqrt(amplitude_ * std::max(1 - nearest * nearest / (1 + noise_), kLeastShare))};
}

GaussianProcess::Selection::Selection(const GaussianProcess& process, Rows candidates)
    : process_(process), candidates_(std::move(candidates)) {
  const std::size_t n = process_.targets_.size();
  std::vector<double> prior(n);
  for (std::size_t c = 0; c < candidates_.count(); ++c) {
    for (std::size_t i = 0; i < n; ++i) prior[i] = process_.similarity(candidates_.row(c), process_.rows_.row(i));
    solved_.push_back(process_.solve_lower(prior));
    means_.push_back(process_.mean_ + dot(solved_[c].data(), process_.whitened_.data(), n));
    shares_.push_back(1 - dot(solved_[c].data(), solved_[c].data(), n));
  }
}

Belief GaussianProcess::Selection::belief(std::size_t index) const {
  return {means_[index], std::sqrt(process_.amplitude_ * std::max(shares_[index], kLeastShare))};
}

// The choice is taken to turn out as expected ('kriging believer'): means stay, one row more in the factor.
void GaussianProcess::Selection::choose(std::size_t index) {
  const std::vector<double> chosen = solved_[index];
  const double pivot = std::sqrt(std::max(shares_[index], kLeastShare) + process_.noise_);
  for (std::size_t c = 0; c < candidates_.count(); ++c) {
    const double prior = process_.similarity(candidates_.row(c), candidates_.row(index));
    const double entry = (prior - dot(solved_[c].data(), chosen.data(), chosen.size())) / pivot;
    solved_[c].push_back(entry);
    shares_[c] -= entry * entry;
  }
}

}  // namespace kagent::proposer
