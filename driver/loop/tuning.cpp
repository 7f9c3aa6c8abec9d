// SPDX-License-Identifier: Apache-2.0
#include "loop/tuning.h"

#include <algorithm>

#include <fmt/core.h>

#include "loop/batch.h"
#include "loop/finalists.h"
#include "loop/history.h"
#include "loop/run_scope.h"
#include "loop/stopping.h"
#include "loop/tunable_check.h"
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
    bench_ = require(Workbench::open(run_.context, run_.options.bench, run_.progress));
    demand_live_tunables(run_.context);
    finalists_.emplace(run_, *bench_, *history_);
    batches_.emplace(run_, *bench_, *history_);
    auto proposer = proposer::make_search_proposer();
    while (!run_.interrupted()) {
      state_.elapsed = run_.budget.elapsed();
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
    const TuningOptions& options = run_.options;
    const int on_record = static_cast<int>(history_->trials().size());
    // A run that was cut short goes on with the rounds that it had left; after a conclusion all rounds are new.
    const int fresh = on_record - (before ? before->trials : 0);
    state_.rounds_done = std::clamp(fresh, 0, options.rounds * options.width) / std::max(1, options.width);
    rule_.rounds = options.rounds;
    rule_.time_budget = options.time_budget;
    rule_.goal_roofline = run_.context.spec.goal.roofline;
    RunStarted started;
    started.kernel = kernel_;
    started.target = run_.context.request.target;
    started.architecture = run_.context.architecture;
    started.proposer = run_.context.request.proposer;
    started.rounds = options.rounds;
    started.width = options.width;
    started.time_budget = options.time_budget;
    started.trials_on_record = on_record;
    run_.progress.on_event(started);
  }

  void round(proposer::Proposer& proposer) {
    const build_step::KernelContext& context = run_.context;
    run_.progress.on_event(RoundStarted{state_.rounds_done + 1});
    const proposer::Proposal proposal{context.spec, context.source_text, history_->trials(),
                                      std::hash<std::string>{}(key_)};
    std::vector<Candidate> candidates = require(proposer.propose(proposal, run_.options.width));
    if (candidates.empty()) {
      state_.space_exhausted = true;
      return;
    }
    for (const Evaluated& one : batches_->run(candidates)) {
      state_.failed.push_back(!one.trial.score.has_value());
      ++result_.trials;
    }
    if (tunables_have_no_effect(history_->trials()))
      throw UserError(fmt::format("{}: different values of the tunables give one and the same program",
                                  context.request.source.string()),
                      "use the tunables of kernel.json as macros in the source, with #ifndef around their defaults");
    ++state_.rounds_done;
    state_.best_after_round.push_back(history_->best_ratio());
    judge_best(1 - kWorthJudgingNow, 1);
  }

  void judge_best(double share, int most) {
    finalists_->judge_best(share, most);
    result_.variant = finalists_->accepted();
    state_.roofline_share = finalists_->roofline_share();
  }

  void finish() {
    judge_best(1 - run_.options.min_gain / 2, kFinalists);
    result_.interrupted = run_.interrupted();
    if (result_.interrupted) {
      result_.reason = "interrupted; the next run goes on from here";
    } else {
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
    bench_->drop_binaries();
    run_.progress.on_event(RunFinished{result_.variant.has_value(), result_.reason, result_.trials,
                                       std::chrono::duration_cast<std::chrono::seconds>(run_.budget.elapsed())});
  }

  const RunScope& run_;
  const std::string& kernel_;
  std::string key_;
  std::optional<History> history_;
  std::unique_ptr<Workbench> bench_;
  std::optional<Finalists> finalists_;
  std::optional<BatchRunner> batches_;
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

}  // namespace kagent::loop
