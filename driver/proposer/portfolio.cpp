// SPDX-License-Identifier: Apache-2.0
#include "proposer/portfolio.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "proposer/forest.h"
#include "proposer/gaussian_process.h"

namespace kagent::proposer {
namespace {

constexpr std::array<std::string_view, kStrategies> kWords{"exploration", "surrogate (process)", "surrogate (forest)",
                                                           "neighbour of"};

// Points before any model is asked, spread out; and how many of them need a time.
constexpr std::size_t kSpreadPoints = 8, kFewestScored = 4;
constexpr std::size_t kSpreadChoices = 40;
constexpr int kTrees = 64, kFailureTrees = 40;
// Points that surrogates learn from: their cost grows with them, what they say hardly any more.
constexpr std::size_t kProcessPoints = 256, kForestPoints = 512;
constexpr std::size_t kProcessCandidates = 1200;
// A point next to one that is already in the batch has to promise so much more (in log expected improvement).
constexpr double kNearPenalty = 1.0;
// The forest sees differences near the best larger than those far from it: log(1 + 3 (log time - log best)).
constexpr double kWarp = 3;
// Shares of a batch, in the order of Strategy, and how strongly rewards (0 ... 1, usually 1/2) change them.
constexpr std::array<double, kStrategies> kUsual{0.5, 3, 3, 1};
constexpr double kCreditSlope = 2;
constexpr double kLeastSuccess = 0.02;

std::size_t changed(const Point& a, const Point& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

class Batch {
 public:
  Batch(const Space& space, const Encoding& encoding, const Knowledge& knowledge, Random& random)
      : space_(space),
        encoding_(encoding),
        knowledge_(knowledge),
        random_(random),
        pool_(space, encoding, knowledge, random) {
    learn_failures();
  }

  std::vector<ProposedPoint> propose(std::size_t count) {
    const bool first = knowledge_.tried.size() < kSpreadPoints || knowledge_.scored.size() < kFewestScored;
    std::array<std::size_t, kStrategies> slots{};
    if (first)
      slots[0] = count;
    else
      slots = share_out(count);
    by_process(slots[1]);
    by_forest(slots[2]);
    by_neighbours(slots[3]);
    explore(count - std::min(count, chosen_.size()));  // its own slots, and what others left open
    return std::move(proposed_);
  }

 private:
  std::array<std::size_t, kStrategies> share_out(std::size_t count) {
    std::array<double, kStrategies> weights{};
    double total = 0;
    for (std::size_t i = 0; i < kStrategies; ++i)
      total += weights[i] = kUsual[i] * std::exp(kCreditSlope * (knowledge_.reward[i] - 0.5));
    // Systematic sampling: each gets its share, rounded up or down at random.
    std::array<std::size_t, kStrategies> slots{};
    double position = random_.uniform(), reached = 0;
    for (std::size_t i = 0; i < kStrategies; ++i) {
      reached += weights[i] / total * static_cast<double>(count);
      for (; position < reached; position += 1) ++slots[i];
    }
    return slots;
  }

  void learn_failures() {
    if (knowledge_.failed.empty()) return;
    Rows rows{encoding_.wide_width(), {}};
    std::vector<double> targets;
    for (const auto* points : {&knowledge_.scored, &knowledge_.failed})
      for (const Point& point : *points) {
        encoding_.encode_wide(point, rows.append());
        targets.push_back(points == &knowledge_.failed ? 1 : 0);
      }
    if (rows.width > 0) failures_.emplace(rows, targets, kFailureTrees, random_);
  }

  double success(std::size_t index) const {
    if (!failures_) return 1;
    return std::max(1 - failures_->predict(pool_.wide_row(index)).mean, kLeastSuccess);
  }

  bool take(Point point, Strategy strategy, std::string hypothesis) {
    if (knowledge_.tried.contains(point) || !taken_.insert(point).second) return false;
    proposed_.push_back({space_.values(point), strategy, std::move(hypothesis)});
    chosen_.push_back(std::move(point));
    return true;
  }

  double best_log_time() const { return knowledge_.log_times[knowledge_.best_first.front()]; }

  void take_expected(std::size_t index, Strategy strategy, double mean_log) {
    const double share = 100 * (1 - std::exp(mean_log - best_log_time()));
    const std::string_view word = kWords[static_cast<std::size_t>(strategy)];
    take(pool_.point(index), strategy,
         share >= 1 ? fmt::format("{}: expects {:.0f} % less time than the best so far", word, share)
                    : fmt::format("{}: uncertain, and may be the fastest", word));
  }

  void by_process(std::size_t slots) {
    if (slots == 0 || encoding_.width() == 0) return;
    Rows rows{encoding_.width(), {}};
    std::vector<double> targets;
    for (std::size_t i : representative(knowledge_.log_times, kProcessPoints)) {
      encoding_.encode(knowledge_.scored[i], rows.append());
      targets.push_back(knowledge_.log_times[i]);
    }
    const GaussianProcess process(std::move(rows), std::move(targets), random_);
    if (!process.usable()) return;
    std::vector<double> log_success;
    const std::vector<double> promise = pool_.climb(
        [&](std::size_t i) {
          log_success.push_back(std::log(success(i)));
          return log_expected_improvement(process.sketch(pool_.row(i)), best_log_time()) + log_success.back();
        },
        random_);
    const std::vector<std::size_t> candidates = highest(promise, kProcessCandidates);
    Rows candidate_rows{encoding_.width(), {}};
    for (std::size_t i : candidates) std::copy_n(pool_.row(i), encoding_.width(), candidate_rows.append());
    GaussianProcess::Selection selection(process, std::move(candidate_rows));
    for (std::size_t slot = 0; slot < slots; ++slot) {
      double highest_gain = -std::numeric_limits<double>::infinity();
      std::size_t chosen = candidates.size();
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        if (taken_.contains(pool_.point(candidates[c]))) continue;
        const double gain = log_expected_improvement(selection.belief(c), best_log_time()) + log_success[candidates[c]];
        if (gain > highest_gain) highest_gain = gain, chosen = c;
      }
      if (chosen == candidates.size()) return;
      take_expected(candidates[chosen], Strategy::process, selection.belief(chosen).mean);
      selection.choose(chosen);
    }
  }

  void by_forest(std::size_t slots) {
    if (slots == 0 || encoding_.width() == 0) return;
    Rows rows{encoding_.wide_width(), {}};
    std::vector<double> targets;
    for (std::size_t i : representative(knowledge_.log_times, kForestPoints)) {
      encoding_.encode_wide(knowledge_.scored[i], rows.append());
      targets.push_back(std::log1p(kWarp * (knowledge_.log_times[i] - best_log_time())));
    }
    const Forest forest(rows, targets, kTrees, random_);
    std::vector<double> promise = pool_.climb(
        [&](std::size_t i) {
          return log_expected_improvement(forest.predict(pool_.wide_row(i)), 0) + std::log(success(i));
        },
        random_);
    for (std::size_t slot = 0; slot < slots; ++slot) {
      double highest_gain = -std::numeric_limits<double>::infinity();
      std::size_t chosen = pool_.size();
      for (std::size_t i = 0; i < promise.size(); ++i) {
        if (promise[i] <= highest_gain || taken_.contains(pool_.point(i))) continue;
        double gain = promise[i];
        for (const Point& other : chosen_)
          if (changed(other, pool_.point(i)) <= 1) gain -= kNearPenalty;
        if (gain > highest_gain) highest_gain = gain, chosen = i;
      }
      if (chosen == pool_.size()) return;
      take_expected(chosen, Strategy::forest,
                    best_log_time() + std::expm1(forest.predict(pool_.wide_row(chosen)).mean) / kWarp);
    }
  }

  void by_neighbours(std::size_t slots) {
    for (std::size_t attempt = 0; slots > 0 && attempt < 20 * slots; ++attempt) {
      std::size_t rank = 0;  // the best, or with half the probability each time a later one
      while (random_.uniform() < 0.5 && rank + 1 < knowledge_.scored.size()) ++rank;
      const Point& centre = knowledge_.scored[knowledge_.best_first[rank]];
      const auto mutant = space_.mutate(centre, 1 + (random_.uniform() < 0.35), random_);
      if (!mutant) continue;
      std::string where;
      for (std::size_t d = 0; d < centre.size(); ++d)
        if (centre[d] != (*mutant)[d]) where += (where.empty() ? "" : " and ") + space_.tunable(d).name;
      const std::string_view whose = rank == 0 ? "the best" : "a good one";
      if (take(*mutant, Strategy::neighbour,
               fmt::format("{} {} in {}", kWords[static_cast<std::size_t>(Strategy::neighbour)], whose, where)))
        --slots;
    }
  }

  // Of a few random ones the farthest from everything tried or chosen, where it will hardly fail.
  void explore(std::size_t slots) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      double farthest = -1;
      std::size_t chosen = pool_.size();
      const auto consider = [&](std::size_t i) {
        if (taken_.contains(pool_.point(i))) return;
        double nearest = std::numeric_limits<double>::infinity();
        for (const auto* points : {&knowledge_.scored, &knowledge_.failed, &std::as_const(chosen_)})
          for (const Point& other : *points) nearest = std::min(nearest, encoding_.distance(other, pool_.point(i)));
        if (std::isinf(nearest)) nearest = 1;
        const double worth = nearest * success(i);
        if (worth > farthest) farthest = worth, chosen = i;
      };
      if (pool_.size() <= kSpreadChoices + taken_.size()) {
        for (std::size_t i = 0; i < pool_.size(); ++i) consider(i);
      } else {
        for (std::size_t tries = 0; tries < kSpreadChoices || chosen == pool_.size(); ++tries)
          consider(random_.below(pool_.size()));
      }
      if (chosen == pool_.size()) return;
      take(pool_.point(chosen), Strategy::exploration, "exploration: far from what was tried");
    }
  }

  static std::vector<std::size_t> highest(const std::vector<double>& scores, std::size_t count) {
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    count = std::min(count, order.size());
    std::partial_sort(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
        [&](std::size_t a, std::size_t b) { return std::pair(-scores[a], a) < std::pair(-scores[b], b); });
    order.resize(count);
    return order;
  }

  const Space& space_;
  const Encoding& encoding_;
  const Knowledge& knowledge_;
  Random& random_;
  Pool pool_;
  std::optional<Forest> failures_;
  std::vector<Point> chosen_;
  PointSet taken_;
  std::vector<ProposedPoint> proposed_;
};

}  // namespace

std::vector<ProposedPoint> propose_batch(const Space& space, const Encoding& encoding, const Knowledge& knowledge,
                                         std::size_t count, Random& random) {
  return Batch(space, encoding, knowledge, random).propose(count);
}

std::optional<Strategy> strategy_of(const std::string& hypothesis) {
  for (std::size_t i = 0; i < kStrategies; ++i)
    if (hypothesis.starts_with(kWords[i])) return static_cast<Strategy>(i);
  return std::nullopt;
}

}  // namespace kagent::proposer
