// SPDX-License-Identifier: Apache-2.0
#include "proposer/pool.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kagent::proposer {
namespace {

// A space with more valid points than this (beyond those already tried) is sampled.
constexpr std::size_t kListed = 8192;
constexpr int kSampled = 1000;
constexpr std::size_t kSampleBudget = 1 << 16;  // values looked at: bounds the time, a fraction of a second
// Best points around which the pool is thickened, and by how much.
constexpr std::size_t kCentres = 8;
constexpr std::size_t kNeighboursEach = 64;
constexpr int kMutantsEach = 24, kCrossings = 200;
// Climbing: rounds, points that are expanded in each, neighbours of each.
constexpr int kClimbs = 4;
constexpr std::size_t kExpanded = 4, kClimbedNeighbours = 96;

}  // namespace

Pool::Pool(const Space& space, const Encoding& encoding, const Knowledge& knowledge, Random& random)
    : space_(space), encoding_(encoding), knowledge_(knowledge) {
  rows_.width = encoding.width();
  wide_rows_.width = encoding.wide_width();
  if (const auto all = space.list(kListed + knowledge.tried.size())) {
    complete_ = true;
    for (const Point& point : *all) add(point);
  } else {
    sample_large(random);
  }
}

void Pool::add(Point point) {
  if (knowledge_.tried.contains(point) || !known_.insert(point).second) return;
  encoding_.encode(point, rows_.append());
  encoding_.encode_wide(point, wide_rows_.append());
  points_.push_back(std::move(point));
}

void Pool::sample_large(Random& random) {
  std::size_t budget = kSampleBudget;
  for (int i = 0; i < kSampled && budget > 0; ++i) {
    auto point = space_.sample(random, budget);
    if (!point) break;
    add(std::move(*point));
  }
  const std::size_t centres = std::min(kCentres, knowledge_.scored.size());
  const auto centre = [&](std::size_t rank) -> const Point& { return knowledge_.scored[knowledge_.best_first[rank]]; };
  for (std::size_t rank = 0; rank < centres; ++rank) {
    std::vector<Point> around = space_.neighbours(centre(rank));
    random.shuffle(around);
    if (around.size() > kNeighboursEach) around.resize(kNeighboursEach);
    for (Point& point : around) add(std::move(point));
    for (int i = 0; i < kMutantsEach; ++i)
      if (auto mutant = space_.mutate(centre(rank), 2 + random.below(2), random)) add(std::move(*mutant));
  }
  if (centres < 2) return;
  for (int i = 0; i < kCrossings; ++i) {
    Point child = centre(random.below(centres));
    const Point& other = centre(random.below(centres));
    for (std::size_t d = 0; d < child.size(); ++d)
      if (random.uniform() < 0.5) child[d] = other[d];
    if (space_.valid(child)) add(std::move(child));
  }
}

std::vector<double> Pool::climb(const Score& score, Random& random) {
  std::vector<double> scores;
  const auto score_new = [&] {
    while (scores.size() < size()) scores.push_back(score(scores.size()));
  };
  score_new();
  if (complete_) return scores;
  std::vector<bool> expanded;
  for (int round = 0; round < kClimbs; ++round) {
    expanded.resize(size(), false);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < size(); ++i)
      if (!expanded[i]) order.push_back(i);
    const std::size_t count = std::min(kExpanded, order.size());
    std::partial_sort(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
        [&](std::size_t a, std::size_t b) { return std::pair(-scores[a], a) < std::pair(-scores[b], b); });
    for (std::size_t i = 0; i < count; ++i) {
      expanded[order[i]] = true;
      std::vector<Point> around = space_.neighbours(points_[order[i]]);
      random.shuffle(around);
      if (around.size() > kClimbedNeighbours) around.resize(kClimbedNeighbours);
      for (Point& point : around) add(std::move(point));
    }
    score_new();
  }
  return scores;
}

}  // namespace kagent::proposer
