// SPDX-License-Identifier: Apache-2.0
#include "loop/tuning.h"

#include <algorithm>

#include <fmt/core.h>

#include "build_step/header_list.h"
#include "loop/archive.h"
#include "loop/batch.h"
#include "loop/course.h"
#include "loop/finalists.h"
#include "loop/history.h"
#include "loop/numeric.h"
#include "loop/replay.h"
#include "loop/run_scope.h"
#include "loop/stopping.h"
#include "loop/stopwatch.h"
#include "loop/tunable_check.h"
#include "loop/writing_rounds.h"
#include "loop/written.h"
#include "proposer/search.h"
#include "store/trial_store.h"
#include "util/text.h"
#include "values/version.h"

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
    prepare(before);
    bool too_short = false;
    while (!run_.interrupted()) {
      state_.elapsed = std::chrono::duration<double>(run_.course.elapsed_s(run_.budget));
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
    const auto before = require(run_.trials.conclusion(kernel_, run_.context.architecture, key_));
    announce(before);
    prepare(before);
    std::string text = !writing_ ? "nothing: the search asks nobody" : rounds_->preview(state_.rounds_done + 1);
    bench_->drop_binaries();
    return text;
  }

 private:
  bool replays() const { return run_.course.replays(); }

  void prepare(const std::optional<store::Conclusion>& before) {
    const Stopwatch watch(run_.budget.times().preparing);
    if (!replays()) bench_ = require(Workbench::open(run_.context, run_.options.bench, run_.progress));
    demand_live_tunables(run_.context);
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
    if (writing_ && !previewing_ && !replays()) record(before);
    finalists_.emplace(run_, bench_.get(), *history_);
    state_.roofline_share = finalists_->roofline_share();
    if (writing_) finalists_->look_at_incumbent();
    batches_.emplace(run_, bench_.get(), *history_);
    if (writing_) rounds_.emplace(run_, bench_.get(), *history_, *batches_, proposers_);
  }

  // From here on everything that this run finds out is on record, beside its exchanges.
  void record(const std::optional<store::Conclusion>& before) {
    CourseBeginning beginning;
    beginning.kernel = kernel_;
    beginning.architecture = run_.context.architecture;
    beginning.key = key_;
    beginning.started = util::utc_now();
    beginning.kagent_version = kVersion;
    beginning.device = bench_->platform().device;
    beginning.flags = build_step::portable_text(bench_->toolchain().flags(), run_.context.request);
    beginning.proposer = run_.options.proposer.name;
    beginning.rounds = run_.options.rounds;
    beginning.width = run_.options.width;
    beginning.population = run_.options.population;
    beginning.time_budget_s = run_.options.time_budget.count();
    beginning.min_gain = run_.options.min_gain;
    beginning.goal_speedup = run_.options.goal_speedup;
    beginning.money = rule_.money;
    beginning.tokens = rule_.tokens;
    run_.course.record(exchanges_, beginning);
    const auto kept =
        keep_beginning(exchanges_, history_->trials(), before, known_lessons(run_.options.bench.state_folder));
    if (!kept) run_.progress.on_event(Warning{"this run cannot be replayed: " + kept.error().message});
  }

  ProposerChoice proposer_choice() {
    ProposerChoice choice = run_.options.proposer;
    choice.preview_only = previewing_;
    std::string now = util::utc_now();
    std::erase(now, ':');
    const auto runs = exchanges_folder(run_.options.bench.state_folder, kernel_, run_.context.architecture);
    exchanges_ = runs / now;
    // Another run of the same second.
    for (int i = 2; std::filesystem::exists(exchanges_); ++i) exchanges_ = runs / fmt::format("{}-{}", now, i);
    choice.exchanges = exchanges_;
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
    started.kernel = replays() ? kernel_ + " (replayed, nothing is measured)" : kernel_;
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
      require(run_.trials.conclude({.kernel = kernel_,
                                    .architecture = run_.context.architecture,
                                    .key = key_,
                                    .variant = result_.variant ? result_.variant->reference : "",
                                    .reason = result_.reason,
                                    .trials = static_cast<int>(history_->trials().size()),
                                    .finished = util::utc_now()}));
      if (!replays()) require(run_.variants.touch_stamp());
    }
    result_.answers = state_.answers;
    if (proposers_.budget)
      for (const char* role : {"draft", "refine"}) result_.usage[role] = proposers_.budget->used(role);
    end_record();
    if (bench_) bench_->drop_binaries();
    result_.times = run_.budget.times();
    run_.progress.on_event(RunFinished{result_.variant.has_value(), result_.reason, result_.trials,
                                       std::chrono::duration_cast<std::chrono::seconds>(run_.budget.elapsed()),
                                       result_.times});
  }

  void end_record() {
    CourseEnd end;
    end.interrupted = result_.interrupted;
    end.reason = result_.reason;
    if (result_.variant) end.variant = result_.variant->reference;
    end.trials = result_.trials;
    for (const auto& [role, used] : result_.usage) {
      end.input_tokens += used.input_tokens;
      end.output_tokens += used.output_tokens;
    }
    end.decisions = digest_of(history_->trials());
    run_.course.end(end);
    if (proposers_.log && !proposers_.log->trouble().empty())
      run_.progress.on_event(Warning{"exchanges with models are not on record: " + proposers_.log->trouble()});
    if (!run_.course.trouble().empty())
      run_.progress.on_event(Warning{"this run cannot be replayed as a whole: " + run_.course.trouble()});
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
  std::filesystem::path exchanges_;      // where those of this run are recorded
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
  Course none;
  Course& course = options.replayed ? *options.replayed : none;
  const RunScope scope{context, variants, *trials, options, progress, interrupted, budget, course};
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
  Course none;
  const RunScope scope{context, variants, *trials, options, progress, interrupted, budget, none};
  return Run(scope).preview();
}

}  // namespace kagent::loop
