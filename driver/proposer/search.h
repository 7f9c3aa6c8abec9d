// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proposer/proposer.h"

namespace kagent::proposer {

// A finite space: the product of the tunables' values, less what the constraints exclude. May have billions of points.
struct SearchSpace {
  std::vector<Tunable> tunables;
  std::vector<Expression> constraints;
};

// Who proposes a point, and in its hypothesis why.
enum class Strategy { exploration, process, forest, neighbour };

// What is known of one point: its time (any positive number that is smaller for a faster one), or that it failed.
struct Observation {
  TunableValues values;
  std::optional<double> score;
  bool untold = false;               // tried without an answer: neither good nor bad, but not to be tried again
  std::optional<Strategy> strategy;  // who proposed it, where that is known: strategies that do well get more
};

struct ProposedPoint {
  TunableValues values;
  Strategy strategy = Strategy::exploration;
  std::string hypothesis;  // a few words for people
};

// Up to `count` distinct valid points that are not among the observations, the most promising first; empty when none
// is left. Deterministic in its arguments. Never lists a large space. An error if the space cannot be read (a
// constraint with an unknown name, a tunable without values) or has no valid point at all.
Result<std::vector<ProposedPoint>> propose_points(const SearchSpace& space,
                                                  const std::vector<Observation>& observations, int count,
                                                  std::uint64_t seed);

// The strategy that wrote a hypothesis; nothing if it was none of these. For Observation::strategy.
std::optional<Strategy> strategy_of_hypothesis(const std::string& hypothesis);

// The built-in proposer over spec.tunables and spec.constraints.
std::unique_ptr<Proposer> make_search_proposer();

}  // namespace kagent::proposer
