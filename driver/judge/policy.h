// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace kagent::judge {

// A process has a bias of its own (where its pages lie, what its neighbours on the machine do) that no number of
// samples removes: up to 0.7 % between identical kernels. No gain under this is ever accepted from processes.
inline constexpr double kSmallestGain = 0.005;

// Of the samples that a pair took of each program, the lower quartile stands for it: what disturbs a sample on a CPU
// only ever makes it longer, and while a build compiles beside the measurement a third of all samples are disturbed.
// Even in quiet it spreads hardly more than the median. See the simulation in docs/measuring.md.
inline constexpr double kSampleQuantile = 0.25;

// Each pair of processes counts once, so that there are few values and one of them may be spoilt by something else on
// the machine. Cutting an eighth at each end bears one such in eight and two in sixteen, for a few per cent of the
// power that the plain t has in quiet. See the simulation in docs/measuring.md.
inline constexpr double kTrim = 0.125;

// When to look, and what counts.
struct Policy {
  // Gain (time of the incumbent over that of the candidate, less 1) that the estimate must reach: never under
  // kSmallestGain. The interval must exclude 'no gain'; it need not exclude min_gain, or a true gain of min_gain
  // would never be found.
  double min_gain = 0.01;
  // What a timed case may lose, at the upper end of its own interval.
  double max_regression = 0.01;
  // Of the verdict, all looks together: each look has (1 - confidence) / looks.size(). With the second measurement of a
  // winner on fresh processes, an accepted null result needs two errors.
  double confidence = 0.99;
  // Numbers of pairs at which a decision is tried: multiples of 4, so that both roles and both start orders weigh the
  // same. 4 suffice for what is plain, 16 tell 2 % at a spread of 1.5 % between pairs.
  std::vector<int> looks{4, 8, 16};
};

// A problem in the words of a user, or an empty string.
const char* problem(const Policy& policy);

}  // namespace kagent::judge
