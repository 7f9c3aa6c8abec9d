// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "values/run_result.h"

namespace kagent::loop {

// Two neighbouring samples, one of each program, as both clocks saw them.
struct SampleTimes {
  std::chrono::nanoseconds incumbent_child{0}, incumbent_driver{0};
  std::chrono::nanoseconds candidate_child{0}, candidate_driver{0};
};

// The runner's clock ticks in the candidate's own process. What the candidate gains on it must therefore also be
// missing from the time that the driver waited: nothing if so, else what the two clocks say. Cannot tell: nothing.
std::optional<std::string> clock_disagreement(const std::vector<SampleTimes>& samples);

// One step whose own time is longer than the driver waited for it: such a time was made up.
bool is_impossible(const RunResult& step);

}  // namespace kagent::loop
