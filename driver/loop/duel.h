// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "judge/judge.h"
#include "loop/case_plan.h"
#include "loop/clock_check.h"
#include "loop/contents.h"
#include "loop/device_conditions.h"
#include "loop/sampled.h"
#include "runner/runner.h"

namespace kagent::loop {

// How long a duel lasts: blocks until there are `least` and `time` has passed, at most `most`.
struct DuelLength {
  std::chrono::milliseconds warm_up{30};  // of each program
  std::chrono::milliseconds time{150};
  int least = 3;
  int most = 24;
  // Whether verified calls must have left their inputs alone. Reading them back takes longer than all else where they
  // are large; what they hold counts for the results of later calls anyway.
  bool inputs_too = true;
};

// What a duel gave.
struct DuelSamples {
  judge::PairSamples times;         // of one call, in ns
  std::vector<SampleTimes> clocks;  // of one sample, by both clocks; same order
  DeviceConditions conditions;
};

// Two live processes that run one case in turn, in ABBA blocks of random orientation. Each timed call finds contents
// that its process has never seen, at a slot drawn at random, and poisoned outputs; now and then, and at least once,
// what a timed call of the candidate left behind is held against the incumbent's.
class Duel {
 public:
  Duel(const KernelSpec& spec, const CasePlan& plan, FreshContents& contents, runner::Session& incumbent,
       runner::Session& candidate, std::mt19937_64& random, const std::function<bool()>& interrupted)
      : spec_(spec),
        plan_(plan),
        contents_(contents),
        incumbent_(incumbent),
        candidate_(candidate),
        random_(random),
        interrupted_(interrupted) {}

  // Leaves no slot behind.
  Sampled<DuelSamples> run(const DuelLength& length);

 private:
  // A call that is verified once it was timed.
  struct Looked {
    int slot = 0;
    const CallInputs* inputs = nullptr;  // the source's own, which stay until the next are asked for, or kept_
  };
  struct Filled {
    std::vector<int> slots;  // in the order of the calls
    std::optional<Looked> looked_at;
  };

  Sampled<void> prepare();
  Sampled<void> warm_up(std::chrono::milliseconds time);
  Sampled<void> block(DuelSamples& samples, bool verify_for_certain);
  Sampled<Filled> refill(bool look);
  CallInputs copied(const CallInputs& inputs) const;
  Sampled<void> half(const std::vector<int>& slots, bool candidate_first, DuelSamples& samples);
  Sampled<void> verify(const Looked& looked);
  Sampled<void> release();
  Sampled<RunResult> of_candidate(Result<RunResult> step) const;
  Sampled<RunResult> sample(bool candidate, const runner::SamplePlan& plan);
  std::uint8_t poison();

  const KernelSpec& spec_;
  const CasePlan& plan_;
  FreshContents& contents_;
  runner::Session& incumbent_;
  runner::Session& candidate_;
  std::mt19937_64& random_;
  const std::function<bool()>& interrupted_;
  CallInputs kept_;
  bool inputs_too_ = true;
  bool verified_ = false;
  double verify_share_ = 0.5;  // of the blocks
};

}  // namespace kagent::loop
