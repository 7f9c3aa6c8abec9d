// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "proposer/proposer.h"

namespace kagent::proposer {

// A finite space: the product of the tunables' values, less what the constraints exclude. May have billions of points.
struct SearchSpace {
  std::vector<Tunable> tunables;
  std::vector<Expression> constraints;
};

// What is known of one point: its time, or that it failed.
struct Observation {
  TunableValues values;
  std::optional<double> score_ns;
};

// Up to `count` distinct valid points that are not among the observations, the most promising first; empty when none
// is left. Deterministic in its arguments. Never lists the space.
std::vector<TunableValues> propose_points(const SearchSpace& space, const std::vector<Observation>& observations,
                                          int count, std::uint64_t seed);

// The built-in proposer over spec.tunables and spec.constraints.
std::unique_ptr<Proposer> make_search_proposer();

}  // namespace kagent::proposer
