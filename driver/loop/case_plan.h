// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "loop/contents.h"
#include "loop/sampled.h"
#include "runner/runner.h"
#include "values/kernel_spec.h"

namespace kagent::loop {

enum class MeasuredOn { cpu, gpu };

// How one timed case is sampled: found once, with the incumbent, and the same for both programs and all pairs.
struct CasePlan {
  const Case* timed = nullptr;
  int repetitions = 1;  // calls of a sample, each in a slot and with contents of its own
  int slots = 1;        // at least `repetitions`; which of them a sample uses is drawn
  bool cold = false;    // caches swept before each call
  bool graph = false;   // on a GPU: warm calls are launched as one graph
};

// Prepares slot 0 of `incumbent` and calls it a few times.
Sampled<CasePlan> plan_case(const KernelSpec& spec, const Case& timed, runner::Session& incumbent,
                            FreshContents& contents, MeasuredOn device = MeasuredOn::cpu);

// Plans for every timed case of the spec, in its order.
Sampled<std::vector<CasePlan>> plan_cases(const KernelSpec& spec, runner::Session& incumbent,
                                          std::vector<FreshContents>& contents, MeasuredOn device = MeasuredOn::cpu);

// One FreshContents for each timed case of the spec, in its order.
Result<std::vector<FreshContents>> contents_of_timed_cases(const KernelSpec& spec, std::uint64_t seed);

// What a step of the project's own program gave, as a reason to stop if it failed.
Sampled<RunResult> of_incumbent(Result<RunResult> step, const std::string& case_name);

}  // namespace kagent::loop
