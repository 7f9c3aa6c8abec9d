// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "loop/case_plan.h"
#include "loop/duel.h"
#include "loop/measurement.h"
#include "loop/measuring_lane.h"

namespace kagent::loop {
namespace {

// One heat: who takes part, by distance from the best so far, and how many more blocks (two samples each) a case gets.
// Replayed on published tuning data, heats of 2, 5 and 32 samples kept the optimum with 14 % of the samples that equal
// treatment takes. The last is shorter here, since the bias of a process, which more samples do not remove, is as large
// as what they would tell; finalists are measured in fresh pairs anyway.
struct Heat {
  double within;  // share of the best one's time
  int blocks;
};
constexpr Heat kHeats[]{{std::numeric_limits<double>::infinity(), 1}, {0.04, 2}, {0.01, 7}};
constexpr std::chrono::milliseconds kWarmUp{20};

struct Entry {
  const Binary* binary = nullptr;
  std::vector<judge::PairSamples> times;  // a case each, over all heats
  Raced raced;
};

class Race {
 public:
  Race(runner::Runner& runner, const KernelSpec& spec, const Binary& anchor, const MeasurementOptions& options,
       runner::RunnerLimits limits)
      : runner_(runner),
        spec_(spec),
        anchor_binary_(anchor),
        options_(options),
        limits_(std::move(limits)),
        random_(options.seed) {}

  // Fills in what each entry raced; ends early, with entries that have no samples, when interrupted or out of time.
  Sampled<void> run(std::vector<Entry>& entries);

 private:
  Sampled<void> prepare();
  Sampled<void> take_part(Entry& entry, int blocks);
  double ratio(const Entry& entry) const;
  std::vector<CaseTimes> case_times(const Entry& entry) const;

  runner::Runner& runner_;
  const KernelSpec& spec_;
  const Binary& anchor_binary_;
  const MeasurementOptions& options_;
  runner::RunnerLimits limits_;
  std::mt19937_64 random_;
  std::vector<FreshContents> contents_;
  std::vector<CasePlan> plans_;
  std::unique_ptr<runner::Session> anchor_;
};

Sampled<void> Race::prepare() {
  auto contents = contents_of_timed_cases(spec_, random_());
  if (!contents) return std::unexpected(Stop::machine(contents.error()));
  contents_ = std::move(*contents);
  auto anchor = runner_.start(anchor_binary_, spec_.parameters, limits_);
  if (!anchor) return std::unexpected(Stop::machine(anchor.error()));
  anchor_ = std::move(*anchor);
  auto plans = plan_cases(spec_, *anchor_, contents_, options_.gpu.empty() ? MeasuredOn::cpu : MeasuredOn::gpu);
  if (!plans) return std::unexpected(plans.error());
  plans_ = std::move(*plans);
  return {};
}

Sampled<void> Race::take_part(Entry& entry, int blocks) {
  auto session = runner_.start(*entry.binary, spec_.parameters, limits_);
  if (!session) return std::unexpected(Stop::machine(session.error()));
  entry.times.resize(plans_.size());
  for (std::size_t c = 0; c < plans_.size(); ++c) {
    Duel duel(spec_, plans_[c], contents_[c], *anchor_, **session, random_, options_.interrupted);
    auto samples = duel.run(
        {.warm_up = kWarmUp, .time = std::chrono::hours(1), .least = blocks, .most = blocks, .inputs_too = false});
    if (!samples) return std::unexpected(samples.error());
    auto append = [](std::vector<double>& to, const std::vector<double>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(entry.times[c].incumbent_ns, samples->times.incumbent_ns);
    append(entry.times[c].candidate_ns, samples->times.candidate_ns);
  }
  entry.raced.samples = static_cast<int>(entry.times.empty() ? 0 : entry.times.front().candidate_ns.size());
  entry.raced.ratio = ratio(entry);
  entry.raced.cases = case_times(entry);
  if (!(entry.raced.ratio > 0))
    return std::unexpected(Stop::candidate(Outcome::ambiguous, "its calls took no time that could be measured"));
  return {};
}

double Race::ratio(const Entry& entry) const {
  double sum = 0, weights = 0;
  for (std::size_t c = 0; c < plans_.size(); ++c) {
    sum += plans_[c].timed->weight * judge::pair_log_ratio(entry.times[c]);
    weights += plans_[c].timed->weight;
  }
  return std::exp(sum / weights);
}

std::vector<CaseTimes> Race::case_times(const Entry& entry) const {
  std::vector<CaseTimes> cases;
  for (std::size_t c = 0; c < plans_.size(); ++c) {
    const judge::PairSamples kept = judge::complete(entry.times[c]);
    cases.push_back({plans_[c].timed->name, plans_[c].timed->weight,
                     judge::quantile(kept.incumbent_ns, judge::kSampleQuantile),
                     judge::quantile(kept.candidate_ns, judge::kSampleQuantile)});
  }
  return cases;
}

Sampled<void> Race::run(std::vector<Entry>& entries) {
  if (auto done = prepare(); !done) return done;
  const auto end = std::chrono::steady_clock::now() + options_.budget;
  for (const Heat& heat : kHeats) {
    double best = std::numeric_limits<double>::infinity();
    for (const Entry& entry : entries)
      if (entry.raced.outcome == Outcome::ok && entry.raced.samples > 0) best = std::min(best, entry.raced.ratio);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      Entry& entry = entries[i];
      if (entry.raced.outcome != Outcome::ok) continue;
      if (entry.raced.samples > 0 && entry.raced.ratio > best * (1 + heat.within)) continue;
      if (std::chrono::steady_clock::now() >= end) return {};
      if (options_.progress) options_.progress(static_cast<int>(i) + 1, static_cast<int>(entries.size()));
      auto done = take_part(entry, heat.blocks);
      if (done) continue;
      if (done.error().error || done.error().interrupted) return done;
      entry.raced.outcome = done.error().outcome;
      entry.raced.detail = std::move(done.error().detail);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Raced>> race(runner::Runner& runner, const KernelSpec& spec, const Binary& anchor,
                                const std::vector<Binary>& candidates, const MeasurementOptions& options) {
  auto lane = enter_lane(options, "racing " + spec.kernel);
  if (!lane) {
    if (options.interrupted && options.interrupted()) return std::vector<Raced>(candidates.size());
    return std::unexpected(lane.error());
  }
  std::vector<Entry> entries;
  for (const Binary& candidate : candidates) entries.push_back({.binary = &candidate, .times = {}, .raced = {}});
  runner::RunnerLimits limits = options.limits;
  if (limits.cpus.empty() && options.gpu.empty()) {
    std::vector<Binary> all = candidates;
    all.push_back(anchor);
    auto cpus = measuring_cpus(all);
    if (!cpus) return std::unexpected(cpus.error());
    limits.cpus = std::move(*cpus);
  }
  auto done = Race(runner, spec, anchor, options, std::move(limits)).run(entries);
  if (!done && done.error().error) return std::unexpected(std::move(*done.error().error));
  std::vector<Raced> raced;
  for (Entry& entry : entries) raced.push_back(std::move(entry.raced));
  return raced;
}

}  // namespace kagent::loop
