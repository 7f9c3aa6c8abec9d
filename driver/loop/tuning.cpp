// SPDX-License-Identifier: Apache-2.0
#include "loop/tuning.h"

#include <algorithm>

#include <fmt/core.h>

#include "loop/archive.h"
#include "loop/batch.h"
#include "loop/finalists.h"
#include "loop/history.h"
#include "loop/numeric.h"
#include "loop/run_scope.h"
#include "loop/stopping.h"
#include "loop/stopwatch.h"
#include "loop/tunable_check.h"
#include "loop/writing_rounds.h"
#include "loop/written.h"
#include "proposer/search.h"
#include "store/trial_store.h"
#include "util/text.h"

namespace kagent::loop {
namespace {

// A round's best is judged at once if it looks this much faster than the incumbent: every judgement costs as much as
// several candidates, but what is judged is kept whatever happens later.
constexpr double kWorthJudgingNow = 0.10;

class Run {
 public:
  explicit Run(const RunScope& scope) : run_(scope), kernel_(scope.context.request.kernel) {}

  // Throws UserError; every finished trial is on record by then.
  TuningResult go() {
    const std::string& architecture = run_.context.architecture;
    key_ = run_.context.key.hash();
    history_ = require(History::read(run_.trials, kernel_, architecture, key_));
    auto before = require(run_.trials.conclusion(kernel_, architecture, key_));
    if (before && !run_.options.again) {
      result_.concluded_before = true;
      result_.reason = before->reason;
      return result_;
    }
    announce(before);
    prepare();
    bool too_short = false;
    while (!run_.interrupted()) {
      state_.elapsed = run_.budget.elapsed();
      if (auto reason = reason_to_stop(rule_, state_)) {
        too_short = result_.trials == 0 && time_is_used(rule_, state_) && !state_.space_exhausted &&
                    state_.rounds_done < rule_.rounds;
        result_.reason =
            too_short ? *reason + " before anything was tried: give more (TIME_BUDGET, --time-budget)" : *reason;
        break;
      }
      round();
    }
    finish(too_short);
    return result_;
  }

  // Of the first request of a run.
  std::string preview() {
    previewing_ = true;
    key_ = run_.context.key.hash();
    history_ = require(History::read(run_.trials, kernel_, run_.context.architecture, key_));
    prepare();
    std::string text = !writing_ ? "nothing: the search asks nobody" : rounds_->preview();
    bench_->drop_binaries();
    return text;
  }

 private:
  void prepare() {
    const Stopwatch watch(run_.budget.times().preparing);
    bench_ = require(Workbench::open(run_.context, run_.options.bench, run_.progress));
    demand_live_tunables(run_.context);
    finalists_.emplace(run_, *bench_, *history_);
    batches_.emplace(run_, *bench_, *history_);
    // A model that is waited for is given up in time for judging what there is.
    const proposer::model::GiveUp give_up = [this] {
      return run_.interrupted() || run_.budget.elapsed() >= (1 - rule_.judging_share) * run_.options.time_budget;
    };
    proposers_ = run_.options.proposers ? run_.options.proposers(proposer_choice(), give_up)
                                        : make_proposers(proposer_choice(), give_up);
    writing_ = proposers_.writing != nullptr;
    if (proposers_.budget) {
      rule_.tokens = proposers_.budget->limits().tokens;
      rule_.money = proposers_.budget->limits().money;
    }
    if (!proposers_.alone_because.empty())
      run_.progress.on_event(Warning{fmt::format("{} is not asked: {}; the search goes on alone",
                                                 run_.options.proposer.name, proposers_.alone_because)});
    if (writing_) rounds_.emplace(run_, *bench_, *history_, *batches_, proposers_);
  }

  ProposerChoice proposer_choice() const {
    ProposerChoice choice = run_.options.proposer;
    choice.preview_only = previewing_;
    std::string now = util::utc_now();
    std::erase(now, ':');
    choice.exchanges = exchanges_folder(run_.options.bench.state_folder, kernel_, run_.context.architecture) / now;
    return choice;
  }

  void announce(const std::optional<store::Conclusion>& before) {
    const TuningOptions& options = run_.options;
    const int on_record = static_cast<int>(history_->trials().size());
    // A run that was cut short goes on with the rounds that it had left; after a conclusion all rounds are new.
    const int fresh = on_record - (before ? before->trials : 0);
    state_.rounds_done = std::clamp(fresh, 0, options.rounds * options.width) / std::max(1, options.width);
    state_.best_after_round = {history_->best_ratio()};
    rule_.rounds = options.rounds;
    rule_.time_budget = options.time_budget;
    rule_.goal_roofline = run_.context.spec.goal.roofline;
    rule_.goal_speedup = options.goal_speedup;
    RunStarted started;
    started.kernel = kernel_;
    started.target = run_.context.request.target;
    started.architecture = run_.context.architecture;
    started.proposer = options.proposer.name;
    started.rounds = options.rounds;
    started.width = options.population > 0 ? options.population : options.width;
    started.time_budget = options.time_budget;
    started.trials_on_record = on_record;
    run_.progress.on_event(started);
  }

  void round() {
    run_.progress.on_event(RoundStarted{state_.rounds_done + 1});
    std::vector<Evaluated> finished;
    bool asked = false;
    if (writing_) {
      const auto skip = rounds_->reason_to_skip(state_);
      if (skip && !skip->empty()) run_.progress.on_event(Warning{*skip});
      asked = !skip;
      if (asked) finished = rounds_->round(state_.rounds_done + 1, state_);
    }
    if (finished.empty() && !run_.interrupted()) finished = search_round();
    if (finished.empty() && !run_.interrupted() && !may_ask_again()) {
      state_.space_exhausted = true;
      state_.has_space = !run_.context.spec.tunables.empty();
      return;
    }
    for (const Evaluated& one : finished) state_.failed.push_back(!one.trial.score.has_value());
    result_.trials += static_cast<int>(finished.size());
    if (tunables_have_no_effect(history_->trials()))
      throw UserError(fmt::format("{}: different values of the tunables give one and the same program",
                                  run_.context.request.source.string()),
                      "use the tunables of kernel.json as macros in the source, with #ifndef around their defaults");
    ++state_.rounds_done;
    state_.best_after_round.push_back(history_->best_ratio());
    judge_best(1 - kWorthJudgingNow, 1);
  }

  // Whether another round may bring what this one did not.
  bool may_ask_again() const { return writing_ && !rounds_->over(); }

  // The search over the tunables of the best source; where those are used up, over the baseline's.
  std::vector<Evaluated> search_round() {
    const std::uint64_t seed = std::hash<std::string>{}(key_);
    if (writing_) {
      const Archive archive(run_.context.source_text, history_->trials(), structural_distance);
      auto candidates =
          numeric_candidates(archive.best().candidate, run_.context.spec, history_->trials(), run_.options.width, seed);
      if (candidates && !candidates->empty()) {
        for (Candidate& one : *candidates)
          if (one.proposer.empty()) one.proposer = "search";
        return batches_->run(std::move(*candidates));
      }
    }
    const proposer::Proposal proposal{run_.context.spec, run_.context.source_text, history_->trials(), seed};
    std::vector<Candidate> candidates = require(search_->propose(proposal, run_.options.width));
    return candidates.empty() ? std::vector<Evaluated>{} : batches_->run(std::move(candidates));
  }

  void judge_best(double share, int most) {
    const Stopwatch watch(run_.budget.times().judging);
    finalists_->judge_best(share, most);
    result_.variant = finalists_->accepted();
    state_.roofline_share = finalists_->roofline_share();
    if (result_.variant) state_.accepted_ratio = result_.variant->evidence.against_baseline.ratio;
  }

  // A run that was too short for a single trial has no result to remember.
  void finish(bool too_short) {
    judge_best(1 - run_.options.min_gain / 2, kFinalists);
    result_.interrupted = run_.interrupted();
    if (result_.interrupted) {
      result_.reason = "interrupted; the next run goes on from here";
    } else if (!too_short || result_.variant) {
      store::Conclusion conclusion;
      conclusion.kernel = kernel_;
      conclusion.architecture = run_.context.architecture;
      conclusion.key = key_;
      conclusion.improved = result_.variant.has_value();
      if (result_.variant) conclusion.variant = result_.variant->reference;
      conclusion.reason = result_.reason;
      conclusion.trials = static_cast<int>(history_->trials().size());
      conclusion.finished = util::utc_now();
      require(run_.trials.conclude(conclusion));
      require(run_.variants.touch_stamp());
    }
    result_.answers = state_.answers;
    if (proposers_.budget)
      for (const char* role : {"draft", "refine"}) result_.usage[role] = proposers_.budget->used(role);
    bench_->drop_binaries();
    result_.times = run_.budget.times();
    run_.progress.on_event(RunFinished{result_.variant.has_value(), result_.reason, result_.trials,
                                       std::chrono::duration_cast<std::chrono::seconds>(run_.budget.elapsed()),
                                       result_.times});
  }

  const RunScope& run_;
  const std::string& kernel_;
  std::string key_;
  std::optional<History> history_;
  std::unique_ptr<Workbench> bench_;
  std::optional<Finalists> finalists_;
  std::optional<BatchRunner> batches_;
  std::unique_ptr<proposer::Proposer> search_ = proposer::make_search_proposer();
  Proposers proposers_;
  std::optional<WritingRounds> rounds_;  // with a proposer that writes code
  bool writing_ = false, previewing_ = false;
  StoppingRule rule_;
  RunState state_;
  TuningResult result_;
};

}  // namespace

Result<TuningResult> tune(const build_step::KernelContext& context, store::VariantStore& variants,
                          const TuningOptions& options, ProgressObserver& progress,
                          const std::function<bool()>& interrupted) {
  auto lock = lock_kernel(context, options, progress, interrupted);
  if (!lock && interrupted()) {
    TuningResult result;
    result.interrupted = true;
    result.reason = "interrupted while it waited for another run of this kernel";
    return result;
  }
  if (!lock) return std::unexpected(lock.error());
  auto trials = store::TrialStore::open(options.bench.state_folder / "trials.sqlite");
  if (!trials) return std::unexpected(trials.error());
  Budget budget(options.time_budget);
  const RunScope scope{context, variants, *trials, options, progress, interrupted, budget};
  const TuningResult result = Run(scope).go();
  if (!trials->notice().empty()) progress.on_event(Warning{trials->notice()});
  return result;
}

Result<std::string> preview_request(const build_step::KernelContext& context, store::VariantStore& variants,
                                    const TuningOptions& options, ProgressObserver& progress,
                                    const std::function<bool()>& interrupted) {
  auto lock = lock_kernel(context, options, progress, interrupted);
  if (!lock) return std::unexpected(lock.error());
  auto trials = store::TrialStore::open(options.bench.state_folder / "trials.sqlite");
  if (!trials) return std::unexpected(trials.error());
  Budget budget(options.time_budget);
  const RunScope scope{context, variants, *trials, options, progress, interrupted, budget};
  return Run(scope).preview();
}

}  // namespace kagent::loop
