// SPDX-License-Identifier: Apache-2.0
#include "loop/finalists.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "build_step/pick.h"
#include "judge/judge.h"
#include "loop/usage.h"
#include "selection/selection.h"

namespace kagent::loop {
namespace {

bool counts_work(const KernelSpec& spec) {
  return spec.flops || spec.bytes;
}

// Of the candidates' times, weighted over the cases; nothing where the spec counts no work or no roof was measured.
std::optional<double> share_of_roofline(const KernelSpec& spec, const profiler::Ceilings& ceilings,
                                        const std::vector<CaseTimes>& times) {
  if (ceilings.flops_per_s <= 0 && ceilings.bytes_per_s <= 0) return std::nullopt;
  double share = 0, weight = 0;
  for (const CaseTimes& timed : times) {
    const Case* one = spec.find_case(timed.case_name);
    if (!one) continue;
    auto position = require(profiler::position(spec, one->sizes, timed.candidate_ns, ceilings));
    if (!position) continue;
    share += timed.weight * position->share;
    weight += timed.weight;
  }
  if (weight <= 0) return std::nullopt;
  return share / weight;
}

std::vector<CaseTimes> times_of(const Decision& against_baseline) {
  std::vector<CaseTimes> times;
  for (const CaseRatio& one : against_baseline.cases)
    times.push_back({one.case_name, one.weight, one.incumbent_ns, one.candidate_ns});
  return times;
}

// The baseline's, as candidates: of each case the median of what the races saw.
std::vector<CaseTimes> times_of_baseline(std::span<const Trial> trials) {
  std::map<std::string, std::pair<double, std::vector<double>>> seen;
  for (const Trial& trial : trials)
    for (const CaseTimes& one : trial.cases) {
      auto& [weight, times] = seen[one.case_name];
      weight = one.weight;
      times.push_back(one.baseline_ns);
    }
  std::vector<CaseTimes> result;
  for (auto& [name, one] : seen) {
    const double time = judge::median(std::move(one.second));
    result.push_back({name, one.first, time, time});
  }
  return result;
}

// How a variant raced when it was a candidate, if that is on record.
std::optional<double> raced_as_candidate(const std::vector<Trial>& trials, const std::string& reference) {
  const auto found = std::ranges::find(trials, kAcceptedAs + reference, &Trial::detail);
  return found == trials.end() ? std::nullopt : found->score;
}

}  // namespace

Finalists::Finalists(const RunScope& run, Workbench* bench, History& history)
    : run_(run), bench_(bench), history_(history), trials_before_(history.trials().size()) {
  // What is accepted already would be judged against itself.
  for (const Trial& trial : history.trials())
    if (trial.detail.starts_with(kAcceptedAs)) judged_.insert(trial.candidate_hash);
  const IncumbentFound found = run.course.incumbent([this] { return choose_incumbent(); });
  incumbent_ratio_ = found.ratio;
  ceilings_ = found.ceilings;
  is_baseline_ = found.reference.empty();
  roofline_share_ = found.roofline_share;
}

// Of the baseline it is known once something of this run raced with it: as the build compiles it, which code of style
// kernel is not. More than the roof says that its data stays in a cache, and nothing about how good it is.
std::optional<double> Finalists::roofline_share() const {
  if (!is_baseline_ || run_.context.spec.style == Style::kernel) return roofline_share_;
  const auto of_run = std::span(history_.trials()).subspan(std::min(trials_before_, history_.trials().size()));
  const auto share = share_of_roofline(run_.context.spec, ceilings_, times_of_baseline(of_run));
  return share && *share <= 1 ? share : std::nullopt;
}

void Finalists::look_at_incumbent() const {
  if (!bench_) return;
  profile(*bench_, Incumbent{bench_->built_baseline(), std::nullopt});
  if (incumbent_.variant) profile(*bench_, incumbent_);
}

IncumbentFound Finalists::choose_incumbent() {
  IncumbentFound found;
  // On a GPU in any case, while the device is at hand: a later step may have to do without it.
  const bool on_gpu = bench_->platform().gpu.has_value();
  if (on_gpu || counts_work(run_.context.spec)) found.ceilings = bench_->ceilings();
  incumbent_ = Incumbent{bench_->built_baseline(), std::nullopt};
  Choice choice = selection::choose(require(build_step::selection_inputs(run_.context, run_.variants)));
  if (!choice.variant) return found;
  run_.progress.on_event(Preparing{"checking " + choice.variant->reference});
  CompileResult compiled = require(bench_->compile_as_built(as_candidate(*choice.variant)));
  Outcome outcome = compiled.outcome;
  std::string detail = compiled.diagnostics;
  if (outcome == Outcome::ok) {
    VerificationReport report = require(bench_->verify_as_built(compiled.binary));
    outcome = report.outcome;
    detail = report.detail;
  }
  if (outcome != Outcome::ok) {
    run_.progress.on_event(Warning{fmt::format("{} fails here ({}): {}; the baseline is the incumbent",
                                               choice.variant->reference, name(outcome), detail)});
    return found;
  }
  incumbent_ = Incumbent{compiled.binary, std::move(choice.variant)};
  found.reference = incumbent_.variant->reference;
  const Raced raced = race_incumbent();
  found.ratio = raced.ratio;
  found.roofline_share = share_of_roofline(run_.context.spec, found.ceilings, raced.cases);
  return found;
}

// How the incumbent races, so that the threshold for finalists is known before anything else is measured.
Raced Finalists::race_incumbent() {
  const Evidence& evidence = incumbent_.variant->evidence;
  // What raced in device code alone is compared with how it raced: the build's compiler may make another program.
  if (run_.context.spec.style == Style::kernel)
    if (const auto ratio = raced_as_candidate(history_.trials(), incumbent_.variant->reference)) {
      Raced raced;
      raced.ratio = *ratio;
      if (evidence.device == bench_->platform().device) raced.cases = times_of(evidence.against_baseline);
      return raced;
    }
  Raced raced = require(race(bench_->runner(), bench_->built_spec(), bench_->built_baseline(), {incumbent_.binary},
                             measuring(run_, *bench_)))
                    .front();
  return raced.outcome == Outcome::ok && raced.samples > 0 ? raced : Raced();
}

void Finalists::judge_best(double share, int most) {
  for (int i = 0; i < most && !run_.interrupted(); ++i) {
    const Trial* best = nullptr;
    for (const Trial& trial : history_.trials())
      if (trial.outcome == Outcome::ok && trial.score && !judged_.contains(trial.candidate_hash) &&
          *trial.score < incumbent_ratio_ * share && (!best || *trial.score < *best->score))
        best = &trial;
    if (!best || (judged_here_ && run_.time_left().count() < 0)) return;
    if (judge(*best)) return;
  }
}

// True if the candidate was accepted or nothing could be decided.
bool Finalists::judge(const Trial& trial) {
  const std::string hash = trial.candidate_hash;
  const double raced = trial.score.value_or(1);
  judged_.insert(hash);
  judged_here_ = true;
  JudgedFinalist judged = run_.course.judged(hash, [&] { return judged_now(trial); });
  if (judged.interrupted) return true;
  require(history_.conclude(hash, judged.outcome, judged.detail));
  if (!judged.variant) return false;
  const Evidence& evidence = judged.variant->evidence;
  if (run_.course.replays())
    run_.progress.on_event(Accepted{judged.variant->reference, evidence.against_incumbent, evidence.against_baseline});
  // As in race_incumbent().
  const bool raced_alike = run_.context.spec.style != Style::kernel;
  incumbent_ratio_ = raced_alike ? evidence.against_baseline.ratio : raced;
  roofline_share_ = judged.roofline_share;
  is_baseline_ = false;
  incumbent_ = Incumbent{judged.binary.value_or(Binary{}), judged.variant};
  accepted_ = std::move(judged.variant);
  return true;
}

JudgedFinalist Finalists::judged_now(const Trial& trial) {
  Evaluated finalist = rebuilt(trial);
  finalist.trial.candidate.usage = usage_behind(history_.trials(), trial);
  if (finalist.trial.outcome != Outcome::ok)
    return {.outcome = finalist.trial.outcome, .detail = finalist.trial.detail, .variant = {}, .binary = {}};
  JudgedFinalist judged =
      require(judge_finalist(*bench_, run_.variants, incumbent_, finalist, measuring(run_, *bench_), run_.progress));
  if (judged.variant)
    judged.roofline_share =
        share_of_roofline(run_.context.spec, ceilings_, times_of(judged.variant->evidence.against_baseline));
  return judged;
}

// The finalist's binary: from this run, or, for a trial of an earlier one, compiled and checked again.
Evaluated Finalists::rebuilt(const Trial& trial) {
  if (const Evaluated* found = history_.evaluated(trial.candidate_hash)) return *found;
  std::vector<Evaluated> again = require(evaluate(
      *bench_, {trial.candidate}, {}, [this](const std::string& hash) { return history_.source_of(hash); },
      [](const Evaluated&) {}, [] { return false; }));
  Evaluated finalist = std::move(again.front());
  finalist.trial.id = trial.id;
  return finalist;
}

}  // namespace kagent::loop
