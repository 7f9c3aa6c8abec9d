// SPDX-License-Identifier: Apache-2.0
#include "loop/tuning.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "build_step/pick.h"
#include "gate/gate.h"
#include "loop/acceptance.h"
#include "loop/evaluation.h"
#include "loop/measurement.h"
#include "loop/stopping.h"
#include "loop/tunable_check.h"
#include "profiler/ceilings.h"
#include "proposer/search.h"
#include "selection/selection.h"
#include "store/trial_store.h"
#include "toolchain/machine.h"
#include "util/lock.h"
#include "util/text.h"

namespace kagent::loop {
namespace {

using Clock = std::chrono::steady_clock;

// A round's best is judged at once if it looks this much faster than the incumbent: every judgement costs as much as
// several candidates, but what is judged is kept whatever happens later.
constexpr double kWorthJudgingNow = 0.10;
// At the end, so many of the best are judged before 'no improvement' is believed.
constexpr int kFinalists = 3;
// Whoever is judged gets so much time for each comparison, also when the time budget is used up: four pairs of
// processes with some timed cases, which suffice for what is plain.
constexpr std::chrono::milliseconds kLeastMeasuring{8'000};

class Run {
 public:
  Run(const build_step::KernelContext& context, store::VariantStore& variants, store::TrialStore& trials,
      const TuningOptions& options, ProgressObserver& progress, const std::function<bool()>& interrupted)
      : context_(context),
        variants_(variants),
        trials_(trials),
        options_(options),
        progress_(progress),
        interrupted_(interrupted) {}

  // Throws UserError; every finished trial is on record by then.
  TuningResult go() {
    key_ = context_.key.hash();
    history_ = require(trials_.trials(context_.request.kernel, context_.architecture, key_));
    auto before = require(trials_.conclusion(context_.request.kernel, context_.architecture, key_));
    if (before && !options_.again) {
      result_.concluded_before = true;
      result_.reason = before->reason;
      return result_;
    }
    announce(before);
    bench_ = require(Workbench::open(context_, options_.bench, progress_));
    demand_live_tunables();
    choose_incumbent();
    auto proposer = proposer::make_search_proposer();
    while (!interrupted_()) {
      state_.elapsed = Clock::now() - started_;
      if (auto reason = reason_to_stop(rule_, state_)) {
        result_.reason = *reason;
        break;
      }
      round(*proposer);
    }
    finish();
    return result_;
  }

 private:
  void announce(const std::optional<store::Conclusion>& before) {
    // A run that was cut short goes on with the rounds that it had left; after a conclusion all rounds are new.
    const int fresh = static_cast<int>(history_.size()) - (before ? before->trials : 0);
    state_.rounds_done = std::clamp(fresh, 0, options_.rounds * options_.width) / std::max(1, options_.width);
    rule_.rounds = options_.rounds;
    rule_.time_budget = options_.time_budget;
    rule_.goal_roofline = context_.spec.goal.roofline;
    for (const Trial& trial : history_)
      if (trial.score) best_ratio_ = std::min(best_ratio_, *trial.score);
    RunStarted started;
    started.kernel = context_.request.kernel;
    started.target = context_.request.target;
    started.architecture = context_.architecture;
    started.proposer = context_.request.proposer;
    started.rounds = options_.rounds;
    started.width = options_.width;
    started.time_budget = options_.time_budget;
    started.trials_on_record = static_cast<int>(history_.size());
    progress_.on_event(started);
  }

  // A source that sets its tunables itself would make every candidate the same program.
  void demand_live_tunables() const {
    Candidate candidate{context_.source_text, {}, "baseline", {}};
    for (const Tunable& tunable : context_.spec.tunables) candidate.tunables[tunable.name] = tunable.values.front();
    for (const gate::Rejection& rejection : gate::inspect(candidate, context_.source_text, context_.spec))
      throw UserError(fmt::format("{}:{}: {}", context_.request.source.string(), rejection.line, rejection.message),
                      "correct the source; candidates are made of it, and the gate refuses them all");
  }

  // The variant that a build would take now, if it still compiles and passes; else the baseline.
  void choose_incumbent() {
    incumbent_ = Incumbent{bench_->built_baseline(), std::nullopt};
    Choice choice = selection::choose(require(build_step::selection_inputs(context_, variants_)));
    if (!choice.variant) return;
    progress_.on_event(Preparing{"checking " + choice.variant->reference});
    CompileResult compiled = require(bench_->compile_as_built(as_candidate(*choice.variant)));
    Outcome outcome = compiled.outcome;
    std::string detail = compiled.diagnostics;
    if (outcome == Outcome::ok) {
      VerificationReport report = require(bench_->verify_as_built(compiled.binary));
      outcome = report.outcome;
      detail = report.detail;
    }
    if (outcome != Outcome::ok) {
      progress_.on_event(Warning{fmt::format("{} fails here ({}): {}; the baseline is the incumbent",
                                             choice.variant->reference, name(outcome), detail)});
      return;
    }
    incumbent_ = Incumbent{compiled.binary, std::move(choice.variant)};
    // So that the threshold for finalists is known before anything else is measured.
    auto raced = require(
        race(bench_->runner(), bench_->built_spec(), bench_->built_baseline(), {incumbent_.binary}, measuring()));
    if (raced.front().outcome == Outcome::ok && raced.front().samples > 0) incumbent_ratio_ = raced.front().ratio;
  }

  // Of the time budget; negative once it is used up.
  std::chrono::milliseconds time_left() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(started_ + options_.time_budget - Clock::now());
  }

  MeasurementOptions measuring() const {
    MeasurementOptions options = bench_->measuring();
    options.policy.min_gain = options_.min_gain;
    options.policy.max_regression = context_.spec.goal.max_regression;
    options.budget = std::clamp(time_left(), kLeastMeasuring, options.budget);
    options.interrupted = interrupted_;
    options.waiting = [this](const std::string& holder) {
      progress_.on_event(Warning{"waiting for another measurement on this machine (" + holder + ")"});
    };
    return options;
  }

  void round(proposer::Proposer& proposer) {
    progress_.on_event(RoundStarted{state_.rounds_done + 1});
    const proposer::Proposal proposal{context_.spec, context_.source_text, history_, std::hash<std::string>{}(key_)};
    std::vector<Candidate> candidates = require(proposer.propose(proposal, options_.width));
    if (candidates.empty()) {
      state_.space_exhausted = true;
      return;
    }
    counts_.proposed += static_cast<int>(candidates.size());
    progress_.on_event(counts_);

    std::vector<Evaluated> evaluated = require(evaluate(
        *bench_, candidates, known_objects(), [&](const Evaluated& one) { count(one); }, interrupted_));
    race_verified(evaluated);
    record(evaluated);
    if (tunables_have_no_effect(history_))
      throw UserError(fmt::format("{}: different values of the tunables give one and the same program",
                                  context_.request.source.string()),
                      "use the tunables of kernel.json as macros in the source, with #ifndef around their defaults");
    ++state_.rounds_done;
    state_.best_after_round.push_back(best_ratio_);
    judge_best(1 - kWorthJudgingNow, 1);
  }

  // The baseline is a trial of nobody, with the ratio 1 by definition.
  std::map<std::string, Trial> known_objects() const {
    std::map<std::string, Trial> known;
    for (const Trial& trial : history_)
      if (!trial.object_hash.empty()) known.try_emplace(trial.object_hash, trial);
    Trial baseline;
    baseline.score = 1;
    baseline.detail = "the baseline";
    known[bench_->baseline().object_hash] = baseline;
    return known;
  }

  void count(const Evaluated& one) {
    if (one.binary) ++counts_.compiled;
    if (one.trial.outcome == Outcome::ok)
      ++counts_.verified;
    else
      ++counts_.failed[one.trial.outcome];
    progress_.on_event(counts_);
  }

  void race_verified(std::vector<Evaluated>& evaluated) {
    std::vector<Evaluated*> verified;
    std::vector<Binary> binaries;
    for (Evaluated& one : evaluated)
      if (one.trial.outcome == Outcome::ok) verified.push_back(&one), binaries.push_back(*one.binary);
    if (binaries.empty() || interrupted_()) return;
    const auto start = Clock::now();
    std::vector<Raced> raced =
        require(race(bench_->runner(), context_.spec, bench_->baseline(), binaries, measuring()));
    const double each = std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(raced.size());
    for (std::size_t i = 0; i < raced.size(); ++i) {
      Trial& trial = verified[i]->trial;
      trial.measure_s = each;
      if (raced[i].outcome != Outcome::ok) {
        trial.outcome = raced[i].outcome;
        trial.detail = util::clean(raced[i].detail, 500);
        ++counts_.failed[trial.outcome];
        continue;
      }
      if (raced[i].samples == 0) continue;
      ++counts_.measured;
      trial.score = raced[i].ratio;
      if (raced[i].ratio < best_ratio_) best_ratio_ = raced[i].ratio;
    }
    counts_.best_ratio = best_ratio_;
    progress_.on_event(counts_);
  }

  // A verified candidate without a measurement was interrupted: it is not finished, and the next run takes it up again.
  void record(std::vector<Evaluated>& evaluated) {
    for (Evaluated& one : evaluated) {
      if (one.trial.outcome == Outcome::ok && !one.trial.score) continue;
      one.trial.id = require(trials_.add(one.trial));
      state_.failed.push_back(!one.trial.score.has_value());
      ++result_.trials;
      history_.push_back(one.trial);
      evaluated_[one.trial.candidate_hash] = one;
    }
  }

  // Judges up to `most` of the best candidates that are under `share` of the incumbent's time and not judged yet; no
  // more than one once the time budget is used up.
  void judge_best(double share, int most) {
    for (int i = 0; i < most && !interrupted_(); ++i) {
      Trial* best = nullptr;
      for (Trial& trial : history_)
        if (trial.outcome == Outcome::ok && trial.score && !judged_.contains(trial.candidate_hash) &&
            *trial.score < incumbent_ratio_ * share && (!best || *trial.score < *best->score))
          best = &trial;
      if (!best || (i > 0 && time_left().count() < 0)) return;
      if (judge(*best)) return;
    }
  }

  // True if the candidate was accepted or nothing could be decided.
  bool judge(Trial& trial) {
    judged_.insert(trial.candidate_hash);
    Evaluated finalist = rebuilt(trial);
    if (finalist.trial.outcome != Outcome::ok) {
      conclude_trial(trial, finalist.trial.outcome, finalist.trial.detail);
      return false;
    }
    JudgedFinalist judged = require(judge_finalist(*bench_, variants_, incumbent_, finalist, measuring(), progress_));
    if (judged.interrupted) return true;
    conclude_trial(trial, judged.outcome, judged.detail);
    if (!judged.variant) return false;
    incumbent_ = Incumbent{*judged.binary, judged.variant};
    incumbent_ratio_ = judged.variant->evidence.against_baseline.ratio;
    state_.roofline_share = roofline_share(judged.variant->evidence.against_baseline);
    result_.variant = std::move(judged.variant);
    return true;
  }

  // Weighted over the timed cases; nothing where the spec counts no work.
  std::optional<double> roofline_share(const Decision& decision) const {
    if (!context_.spec.flops && !context_.spec.bytes) return std::nullopt;
    const profiler::Ceilings ceilings =
        profiler::cached_ceilings(options_.bench.state_folder / "ceilings.json", toolchain::machine_description());
    double share = 0, weight = 0;
    for (const CaseRatio& ratio : decision.cases) {
      const Case* one = context_.spec.find_case(ratio.case_name);
      if (!one) continue;
      auto position = require(profiler::position(context_.spec, one->sizes, ratio.candidate_ns, ceilings));
      if (!position) continue;
      share += ratio.weight * position->share;
      weight += ratio.weight;
    }
    if (weight <= 0) return std::nullopt;
    return share / weight;
  }

  // The finalist's binary: from this run, or, for a trial of an earlier one, compiled and checked again.
  Evaluated rebuilt(const Trial& trial) {
    if (auto found = evaluated_.find(trial.candidate_hash); found != evaluated_.end()) return found->second;
    std::vector<Evaluated> again = require(evaluate(
        *bench_, {trial.candidate}, {}, [](const Evaluated&) {}, [] { return false; }));
    Evaluated finalist = std::move(again.front());
    finalist.trial.id = trial.id;
    return finalist;
  }

  void conclude_trial(Trial& trial, Outcome outcome, const std::string& detail) {
    trial.outcome = outcome;
    trial.detail = util::clean(detail, 500);
    require(trials_.update(trial));
  }

  void finish() {
    judge_best(1 - options_.min_gain / 2, kFinalists);
    result_.interrupted = interrupted_();
    if (result_.interrupted) {
      result_.reason = "interrupted; the next run goes on from here";
    } else {
      store::Conclusion conclusion;
      conclusion.kernel = context_.request.kernel;
      conclusion.architecture = context_.architecture;
      conclusion.key = key_;
      conclusion.improved = result_.variant.has_value();
      if (result_.variant) conclusion.variant = result_.variant->reference;
      conclusion.reason = result_.reason;
      conclusion.trials = static_cast<int>(history_.size());
      conclusion.finished = util::utc_now();
      require(trials_.conclude(conclusion));
      require(variants_.touch_stamp());
    }
    bench_->drop_binaries();
    progress_.on_event(RunFinished{result_.variant.has_value(), result_.reason, result_.trials,
                                   std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - started_)});
  }

  const build_step::KernelContext& context_;
  store::VariantStore& variants_;
  store::TrialStore& trials_;
  const TuningOptions& options_;
  ProgressObserver& progress_;
  const std::function<bool()>& interrupted_;

  const Clock::time_point started_ = Clock::now();
  std::string key_;
  std::vector<Trial> history_;
  std::unique_ptr<Workbench> bench_;
  Incumbent incumbent_;
  double incumbent_ratio_ = 1;  // time over the baseline's, as far as measured
  double best_ratio_ = 1;
  StoppingRule rule_;
  RunState state_;
  StageCounts counts_;
  TuningResult result_;
  std::map<std::string, Evaluated> evaluated_;  // of this run, by candidate hash: their binaries still exist
  std::set<std::string> judged_;
};

}  // namespace

Result<TuningResult> tune(const build_step::KernelContext& context, store::VariantStore& variants,
                          const TuningOptions& options, ProgressObserver& progress,
                          const std::function<bool()>& interrupted) {
  const std::filesystem::path lock_file =
      options.bench.state_folder / "locks" / (context.request.kernel + "-" + context.architecture + ".lock");
  std::error_code error;
  std::filesystem::create_directories(lock_file.parent_path(), error);
  const auto tell = [&](const std::string& holder) {
    progress.on_event(Warning{"waiting for another run of this kernel (" + holder + ")"});
  };
  auto lock = util::FileLock::acquire(lock_file, "tuning " + context.request.kernel, tell, interrupted);
  if (!lock && interrupted()) {
    TuningResult result;
    result.interrupted = true;
    result.reason = "interrupted while it waited for another run of this kernel";
    return result;
  }
  if (!lock) return std::unexpected(lock.error());
  auto trials = store::TrialStore::open(options.bench.state_folder / "trials.sqlite");
  if (!trials) return std::unexpected(trials.error());
  const TuningResult result = Run(context, variants, *trials, options, progress, interrupted).go();
  if (!trials->notice().empty()) progress.on_event(Warning{trials->notice()});
  return result;
}

}  // namespace kagent::loop
