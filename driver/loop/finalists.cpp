// SPDX-License-Identifier: Apache-2.0
#include "loop/finalists.h"

#include <algorithm>

#include <fmt/core.h>

#include "build_step/pick.h"
#include "loop/usage.h"
#include "profiler/roofline.h"
#include "selection/selection.h"

namespace kagent::loop {
namespace {

// Weighted over the timed cases; nothing where the spec counts no work.
std::optional<double> share_of_roofline(const Workbench& bench, const Decision& decision) {
  const KernelSpec& spec = bench.spec();
  if (!spec.flops && !spec.bytes) return std::nullopt;
  const profiler::Ceilings ceilings = bench.ceilings();
  double share = 0, weight = 0;
  for (const CaseRatio& ratio : decision.cases) {
    const Case* one = spec.find_case(ratio.case_name);
    if (!one) continue;
    auto position = require(profiler::position(spec, one->sizes, ratio.candidate_ns, ceilings));
    if (!position) continue;
    share += ratio.weight * position->share;
    weight += ratio.weight;
  }
  if (weight <= 0) return std::nullopt;
  return share / weight;
}

// How a variant raced when it was a candidate, if that is on record.
std::optional<double> raced_as_candidate(const std::vector<Trial>& trials, const std::string& reference) {
  const auto found = std::ranges::find(trials, kAcceptedAs + reference, &Trial::detail);
  return found == trials.end() ? std::nullopt : found->score;
}

}  // namespace

Finalists::Finalists(const RunScope& run, Workbench* bench, History& history)
    : run_(run), bench_(bench), history_(history) {
  // What is accepted already would be judged against itself.
  for (const Trial& trial : history.trials())
    if (trial.detail.starts_with(kAcceptedAs)) judged_.insert(trial.candidate_hash);
  incumbent_ratio_ = run.course.incumbent([this] { return choose_incumbent(); }).ratio;
  // While the device is at hand: a later step may have to do without it.
  if (bench && bench->platform().gpu) bench->ceilings();
}

void Finalists::look_at_incumbent() const {
  if (!bench_) return;
  profile(*bench_, Incumbent{bench_->built_baseline(), std::nullopt});
  if (incumbent_.variant) profile(*bench_, incumbent_);
}

IncumbentFound Finalists::choose_incumbent() {
  incumbent_ = Incumbent{bench_->built_baseline(), std::nullopt};
  Choice choice = selection::choose(require(build_step::selection_inputs(run_.context, run_.variants)));
  if (!choice.variant) return {};
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
    return {};
  }
  incumbent_ = Incumbent{compiled.binary, std::move(choice.variant)};
  // What raced in device code alone is compared with how it raced: the build's compiler may make another program.
  if (run_.context.spec.style == Style::kernel)
    if (const auto ratio = raced_as_candidate(history_.trials(), incumbent_.variant->reference))
      return {incumbent_.variant->reference, *ratio};
  // So that the threshold for finalists is known before anything else is measured.
  auto raced = require(race(bench_->runner(), bench_->built_spec(), bench_->built_baseline(), {incumbent_.binary},
                            measuring(run_, *bench_)));
  const bool is_measured = raced.front().outcome == Outcome::ok && raced.front().samples > 0;
  return {incumbent_.variant->reference, is_measured ? raced.front().ratio : 1};
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
  // As in choose_incumbent().
  const bool raced_alike = run_.context.spec.style != Style::kernel;
  incumbent_ratio_ = raced_alike ? evidence.against_baseline.ratio : raced;
  roofline_share_ = judged.roofline_share;
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
  if (judged.variant) judged.roofline_share = share_of_roofline(*bench_, judged.variant->evidence.against_baseline);
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
