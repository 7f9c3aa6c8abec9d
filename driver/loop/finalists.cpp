// SPDX-License-Identifier: Apache-2.0
#include "loop/finalists.h"

#include <fmt/core.h>

#include "build_step/pick.h"
#include "loop/profile.h"
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

}  // namespace

Finalists::Finalists(const RunScope& run, Workbench& bench, History& history)
    : run_(run), bench_(bench), history_(history) {
  // What is accepted already would be judged against itself.
  for (const Trial& trial : history.trials())
    if (trial.detail.starts_with(kAcceptedAs)) judged_.insert(trial.candidate_hash);
  choose_incumbent();
  if (bench.platform().gpu) bench.ceilings();  // while the device is at hand: a later step may have to do without it
  profile(bench, bench.built_baseline(), "", nullptr);
  if (incumbent_.variant) {
    const Candidate candidate = as_candidate(*incumbent_.variant);
    profile(bench, incumbent_.binary, incumbent_.variant->evidence.source_hash, &candidate);
  }
}

void Finalists::choose_incumbent() {
  incumbent_ = Incumbent{bench_.built_baseline(), std::nullopt};
  Choice choice = selection::choose(require(build_step::selection_inputs(run_.context, run_.variants)));
  if (!choice.variant) return;
  run_.progress.on_event(Preparing{"checking " + choice.variant->reference});
  CompileResult compiled = require(bench_.compile_as_built(as_candidate(*choice.variant)));
  Outcome outcome = compiled.outcome;
  std::string detail = compiled.diagnostics;
  if (outcome == Outcome::ok) {
    VerificationReport report = require(bench_.verify_as_built(compiled.binary));
    outcome = report.outcome;
    detail = report.detail;
  }
  if (outcome != Outcome::ok) {
    run_.progress.on_event(Warning{fmt::format("{} fails here ({}): {}; the baseline is the incumbent",
                                               choice.variant->reference, name(outcome), detail)});
    return;
  }
  incumbent_ = Incumbent{compiled.binary, std::move(choice.variant)};
  // So that the threshold for finalists is known before anything else is measured.
  auto raced = require(race(bench_.runner(), bench_.built_spec(), bench_.built_baseline(), {incumbent_.binary},
                            measuring(run_, bench_)));
  if (raced.front().outcome == Outcome::ok && raced.front().samples > 0) incumbent_ratio_ = raced.front().ratio;
}

void Finalists::judge_best(double share, int most) {
  for (int i = 0; i < most && !run_.interrupted(); ++i) {
    const Trial* best = nullptr;
    for (const Trial& trial : history_.trials())
      if (trial.outcome == Outcome::ok && trial.score && !judged_.contains(trial.candidate_hash) &&
          *trial.score < incumbent_ratio_ * share && (!best || *trial.score < *best->score))
        best = &trial;
    if (!best || (i > 0 && run_.budget.left().count() < 0)) return;
    if (judge(*best)) return;
  }
}

// True if the candidate was accepted or nothing could be decided.
bool Finalists::judge(const Trial& trial) {
  const std::string hash = trial.candidate_hash;
  judged_.insert(hash);
  Evaluated finalist = rebuilt(trial);
  if (finalist.trial.outcome != Outcome::ok) {
    require(history_.conclude(hash, finalist.trial.outcome, finalist.trial.detail));
    return false;
  }
  finalist.trial.candidate.usage = history_.usage_of(trial.candidate);
  JudgedFinalist judged =
      require(judge_finalist(bench_, run_.variants, incumbent_, finalist, measuring(run_, bench_), run_.progress));
  if (judged.interrupted) return true;
  require(history_.conclude(hash, judged.outcome, judged.detail));
  if (!judged.variant) return false;
  incumbent_ = Incumbent{*judged.binary, judged.variant};
  incumbent_ratio_ = judged.variant->evidence.against_baseline.ratio;
  roofline_share_ = share_of_roofline(bench_, judged.variant->evidence.against_baseline);
  accepted_ = std::move(judged.variant);
  return true;
}

// The finalist's binary: from this run, or, for a trial of an earlier one, compiled and checked again.
Evaluated Finalists::rebuilt(const Trial& trial) {
  if (const Evaluated* found = history_.evaluated(trial.candidate_hash)) return *found;
  std::vector<Evaluated> again = require(evaluate(
      bench_, {trial.candidate}, {}, [this](const std::string& hash) { return history_.source_of(hash); },
      [](const Evaluated&) {}, [] { return false; }));
  Evaluated finalist = std::move(again.front());
  finalist.trial.id = trial.id;
  return finalist;
}

}  // namespace kagent::loop
