// SPDX-License-Identifier: Apache-2.0
#include "loop/measurement.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include <fmt/core.h>

#include "loop/case_plan.h"
#include "loop/clock_check.h"
#include "loop/duel.h"
#include "loop/measuring_lane.h"

namespace kagent::loop {
namespace {

using Clock = std::chrono::steady_clock;

// One run of the protocol: the pairs that were measured and what the driver's clock saw of them.
class Contest {
 public:
  Contest(runner::Runner& runner, const KernelSpec& spec, const Binary& incumbent, const Binary& candidate,
          const MeasurementOptions& options, runner::RunnerLimits limits)
      : runner_(runner),
        spec_(spec),
        incumbent_(incumbent),
        candidate_(candidate),
        options_(options),
        limits_(std::move(limits)),
        random_(options.seed) {
    samples_.policy = options.policy;
    samples_.policy.min_gain = std::max(samples_.policy.min_gain, judge::kSmallestGain);
  }

  Sampled<Decision> run();
  MeasuredSamples take_samples() { return std::move(samples_); }

 private:
  Sampled<std::unique_ptr<runner::Session>> start(const Binary& binary);
  Sampled<void> plan();
  Sampled<void> measure_pair(int number);
  Sampled<void> check_clocks() const;

  runner::Runner& runner_;
  const KernelSpec& spec_;
  const Binary& incumbent_;
  const Binary& candidate_;
  const MeasurementOptions& options_;
  runner::RunnerLimits limits_;
  MeasuredSamples samples_;
  std::mt19937_64 random_;
  std::vector<FreshContents> contents_;
  std::vector<CasePlan> plans_;
  std::vector<std::vector<SampleTimes>> clocks_;  // a case each, over all pairs
};

Sampled<std::unique_ptr<runner::Session>> Contest::start(const Binary& binary) {
  auto session = runner_.start(binary, spec_.parameters, limits_);
  if (!session) return std::unexpected(Stop::machine(session.error()));
  return std::move(*session);
}

Sampled<void> Contest::plan() {
  auto contents = contents_of_timed_cases(spec_, random_());
  if (!contents) return std::unexpected(Stop::machine(contents.error()));
  contents_ = std::move(*contents);
  auto session = start(incumbent_);
  if (!session) return std::unexpected(session.error());
  auto plans = plan_cases(spec_, **session, contents_, options_.gpu.empty() ? MeasuredOn::cpu : MeasuredOn::gpu);
  if (!plans) return std::unexpected(plans.error());
  plans_ = std::move(*plans);
  for (const CasePlan& one : plans_) samples_.cases.push_back({one.timed->name, one.timed->weight});
  clocks_.resize(plans_.size());
  return {};
}

Sampled<void> Contest::measure_pair(int number) {
  // Over four pairs each program starts first twice, in pairs of random order within their blocks.
  const bool candidate_starts = number % 2 == 1;
  auto first = start(candidate_starts ? candidate_ : incumbent_);
  if (!first) return std::unexpected(first.error());
  auto second = start(candidate_starts ? incumbent_ : candidate_);
  if (!second) return std::unexpected(second.error());
  runner::Session& incumbent = candidate_starts ? **second : **first;
  runner::Session& candidate = candidate_starts ? **first : **second;

  std::vector<judge::PairSamples> pair;
  for (std::size_t c = 0; c < plans_.size(); ++c) {
    Duel duel(spec_, plans_[c], contents_[c], incumbent, candidate, random_, options_.interrupted);
    auto samples = duel.run({});
    if (!samples) return std::unexpected(samples.error());
    samples_.conditions.add(samples->conditions);
    pair.push_back(std::move(samples->times));
    clocks_[c].insert(clocks_[c].end(), samples->clocks.begin(), samples->clocks.end());
  }
  samples_.pairs.push_back(std::move(pair));
  return {};
}

Sampled<void> Contest::check_clocks() const {
  for (std::size_t c = 0; c < clocks_.size(); ++c)
    if (auto problem = clock_disagreement(clocks_[c]))
      return std::unexpected(Stop::candidate(Outcome::policy_violation, samples_.cases[c].name + ": " + *problem));
  return {};
}

Sampled<Decision> Contest::run() {
  if (auto planned = plan(); !planned) return std::unexpected(planned.error());
  const auto end = Clock::now() + options_.budget;
  for (const int look : samples_.policy.looks) {
    while (static_cast<int>(samples_.pairs.size()) < look) {
      if (options_.interrupted && options_.interrupted()) return std::unexpected(Stop::interruption());
      if (Clock::now() >= end) break;
      if (options_.progress) options_.progress(static_cast<int>(samples_.pairs.size()) + 1, look);
      if (auto done = measure_pair(static_cast<int>(samples_.pairs.size())); !done)
        return std::unexpected(done.error());
    }
    samples_.out_of_time = static_cast<int>(samples_.pairs.size()) < look;
    Decision decision = decided(samples_);
    if (!samples_.out_of_time && judge::worth_more_pairs(samples_.policy, decision, look)) continue;
    if (decision.accepted)
      if (auto checked = check_clocks(); !checked) return std::unexpected(checked.error());
    return decision;
  }
  return decided(samples_);
}

}  // namespace

Decision decided(const MeasuredSamples& samples) {
  Decision decision = judge::decide(samples.policy, samples.cases, samples.pairs);
  if (samples.out_of_time && !decision.accepted) decision.reason += "; the time budget ended the measurement";
  if (const std::string conditions = samples.conditions.text(); !conditions.empty())
    decision.reason += "; " + conditions;
  return decision;
}

Result<MeasuringLane> enter_lane(const MeasurementOptions& options, const std::string& what) {
  if (options.gpu.empty()) return MeasuringLane::enter(options.lane, what, options.waiting, options.interrupted);
  return MeasuringLane::enter_device(options.gpu, options.lane, what, options.waiting, options.interrupted);
}

Result<Measured> measure(runner::Runner& runner, const KernelSpec& spec, const Binary& incumbent,
                         const Binary& candidate, const MeasurementOptions& options) {
  auto lane = enter_lane(options, "measuring " + spec.kernel);
  if (!lane) {
    if (options.interrupted && options.interrupted()) return Measured{Outcome::ok, {}, {}, true};
    return std::unexpected(lane.error());
  }
  runner::RunnerLimits limits = options.limits;
  if (limits.cpus.empty() && options.gpu.empty()) {
    auto cpus = measuring_cpus({incumbent, candidate});
    if (!cpus) return std::unexpected(cpus.error());
    limits.cpus = std::move(*cpus);
  }
  Contest contest(runner, spec, incumbent, candidate, options, std::move(limits));
  auto decision = contest.run();
  if (decision) return Measured{Outcome::ok, {}, std::move(*decision), false, contest.take_samples()};
  Stop& stop = decision.error();
  if (stop.error) return std::unexpected(std::move(*stop.error));
  return Measured{stop.outcome, std::move(stop.detail), {}, stop.interrupted, contest.take_samples()};
}

}  // namespace kagent::loop
