// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace kagent {

// Where the wall time of a run went. Stages that work side by side divide their time in proportion to their own.
struct PhaseTimes {
  using Seconds = std::chrono::duration<double>;
  Seconds preparing{0};  // compiling and verifying baseline, reference and incumbent
  Seconds compiling{0};  // candidates, the gate included
  Seconds verifying{0};  // candidates
  Seconds racing{0};     // measuring candidates, a few samples each
  Seconds judging{0};    // measuring and verifying finalists in fresh processes
  Seconds waiting{0};    // for a model, with nothing left to measure meanwhile
};

}  // namespace kagent
