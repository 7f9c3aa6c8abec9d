// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "judge/judge.h"
#include "loop/device_conditions.h"
#include "loop/measuring_lane.h"
#include "runner/runner.h"
#include "values/binary.h"
#include "values/decision.h"
#include "values/kernel_spec.h"
#include "values/outcome.h"
#include "values/trial.h"

namespace kagent::loop {

struct MeasurementOptions {
  runner::RunnerLimits limits;  // of each process; `cpus` is chosen here if it is empty
  judge::Policy policy;
  std::chrono::milliseconds budget{60'000};  // no further pair is started past it
  std::uint64_t seed = 0;                    // of the inputs and of the order of samples; secret
  std::function<void(int pair, int pairs)> progress;
  std::function<bool()> interrupted;
  std::string gpu;             // UUID of the GPU that is measured on; empty: the CPU
  std::filesystem::path lane;  // folder of the measuring lock; empty: this user's own, as everything outside of tests
  // Called once with a line about the holder, if another process is measuring and this one has to wait for it.
  std::function<void(const std::string& holder)> waiting;
};

// The lane of the device that is measured on.
Result<MeasuringLane> enter_lane(const MeasurementOptions& options, const std::string& what);

// What a decision is taken from, and by which rule.
struct MeasuredSamples {
  judge::Policy policy;
  std::vector<judge::TimedCase> cases;
  std::vector<std::vector<judge::PairSamples>> pairs;  // as decide() takes them
  bool out_of_time = false;                            // the budget ended it before the rule did
  DeviceConditions conditions = {};
};
// The reason of the decision says also what may have disturbed it.
Decision decided(const MeasuredSamples& samples);

// What measuring a candidate gave: a decision, or how the candidate failed in the middle (outcome other than ok).
struct Measured {
  Outcome outcome = Outcome::ok;
  std::string detail;
  Decision decision;
  bool interrupted = false;      // the decision is then without meaning
  MeasuredSamples samples = {};  // as far as they were taken
};

// Candidate against incumbent by the protocol of docs/measuring.md: fresh pairs of processes, ABBA blocks, timed calls
// verified against each other. Holds the machine-wide measuring lock.
Result<Measured> measure(runner::Runner& runner, const KernelSpec& spec, const Binary& incumbent,
                         const Binary& candidate, const MeasurementOptions& options);

// What racing gave one of many candidates.
struct Raced {
  Outcome outcome = Outcome::ok;
  std::string detail;
  double ratio = 1;              // weighted geometric mean over the timed cases of time(candidate) / time(anchor)
  std::vector<CaseTimes> cases;  // with samples: lower quartiles
  int samples = 0;               // more for those near the best; 0: interrupted, or out of time, before it was measured
};

// Quick times of many verified candidates, interleaved with the anchor (the baseline, so that ratios of different
// rounds and runs can be compared). Same order as `candidates`. Good for ranking, never for accepting.
Result<std::vector<Raced>> race(runner::Runner& runner, const KernelSpec& spec, const Binary& anchor,
                                const std::vector<Binary>& candidates, const MeasurementOptions& options);

}  // namespace kagent::loop
