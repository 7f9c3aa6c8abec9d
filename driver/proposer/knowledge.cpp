// SPDX-License-Identifier: Apache-2.0
#include "proposer/knowledge.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace kagent::proposer {
namespace {

// Latest points of a strategy that its reward looks at, and how many average ones it starts with.
constexpr std::size_t kRemembered = 32;
constexpr double kPriorPoints = 4;

bool usable(const std::optional<double>& score) {
  return score && std::isfinite(*score) && *score > 0;
}

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  if (numbers.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(numbers.begin(), middle)) / 2;
}

std::array<double, kStrategies> rewards(const std::vector<Observation>& observations,
                                        const std::vector<double>& log_times) {
  std::vector<double> sorted = log_times;
  std::sort(sorted.begin(), sorted.end());
  std::array<double, kStrategies> sums{}, counts{};
  for (auto it = observations.rbegin(); it != observations.rend(); ++it) {
    if (!it->strategy || it->untold) continue;
    const auto strategy = static_cast<std::size_t>(*it->strategy);
    if (counts[strategy] >= kRemembered) continue;
    counts[strategy] += 1;
    if (!usable(it->score)) continue;
    const auto beaten = sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), std::log(*it->score));
    sums[strategy] += static_cast<double>(beaten) / static_cast<double>(sorted.size());
  }
  std::array<double, kStrategies> result{};
  for (std::size_t i = 0; i < kStrategies; ++i) result[i] = (sums[i] + kPriorPoints * 0.5) / (counts[i] + kPriorPoints);
  return result;
}

}  // namespace

std::size_t PointHash::operator()(const Point& point) const {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, a word at a time
  for (std::uint32_t choice : point) hash = (hash ^ choice) * 0x100000001b3;
  return static_cast<std::size_t>(hash ^ (hash >> 29));
}

Knowledge::Knowledge(const Space& space, const std::vector<Observation>& observations) {
  std::unordered_map<Point, std::vector<double>, PointHash> times;
  std::vector<Point> order, unscored;
  for (const Observation& observation : observations) {
    const std::optional<Point> point = space.locate(observation.values);
    if (!point) continue;
    tried.insert(*point);
    if (usable(observation.score)) {
      std::vector<double>& of_point = times[*point];
      if (of_point.empty()) order.push_back(*point);
      of_point.push_back(std::log(*observation.score));
    } else if (!observation.untold) {
      unscored.push_back(*point);
    }
  }
  for (const Point& point : order) {
    scored.push_back(point);
    log_times.push_back(median(times[point]));
  }
  PointSet seen;
  for (const Point& point : unscored)
    if (!times.contains(point) && seen.insert(point).second) failed.push_back(point);
  best_first.resize(scored.size());
  std::iota(best_first.begin(), best_first.end(), std::size_t{0});
  std::stable_sort(best_first.begin(), best_first.end(),
                   [&](std::size_t a, std::size_t b) { return log_times[a] < log_times[b]; });
  reward = rewards(observations, log_times);
}

}  // namespace kagent::proposer
