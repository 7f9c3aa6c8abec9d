// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proposer/pool.h"

namespace kagent::proposer {

// The next points to try, by several strategies side by side. None of them is best everywhere, so each gets a share of
// the batch that grows with how well its earlier points did:
//   process      largest expected improvement of a Gaussian process: smooth spaces, few points
//   forest       the same of randomised trees: cliffs, and thresholds of single tunables
//   neighbour    one of the best points with one or two tunables changed: what no model foresees
//   exploration  far from everything tried
// The first points of a space are all spread out.
std::vector<ProposedPoint> propose_batch(const Space& space, const Encoding& encoding, const Knowledge& knowledge,
                                         std::size_t count, Random& random);

// The strategy that wrote a hypothesis; nothing if it was none of these.
std::optional<Strategy> strategy_of(const std::string& hypothesis);

}  // namespace kagent::proposer
