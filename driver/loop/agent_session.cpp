// SPDX-License-Identifier: Apache-2.0
#include "loop/agent_session.h"

#include <memory>

#include <fmt/core.h>

#include "build_step/header_list.h"
#include "build_step/pick.h"
#include "loop/agent_work.h"
#include "loop/analysis.h"
#include "loop/archive.h"
#include "loop/brief_builder.h"
#include "loop/experience.h"
#include "loop/history.h"
#include "loop/run_scope.h"
#include "loop/stopping.h"
#include "loop/written.h"
#include "proposer/structure.h"
#include "selection/selection.h"
#include "store/lesson_store.h"
#include "store/profile_record.h"
#include "util/text.h"

namespace kagent::loop {
namespace {

namespace fs = std::filesystem;

fs::path trials_file(const TuningOptions& options) {
  return options.bench.state_folder / "trials.sqlite";
}

StoppingRule rule_of(const SessionRecord& record, const KernelSpec& spec) {
  StoppingRule rule;
  rule.rounds = record.limits.rounds;
  rule.time_budget = std::chrono::seconds(record.limits.time_budget_s);
  rule.judging_share = 0;  // each step judges what it found
  rule.goal_roofline = spec.goal.roofline;
  rule.goal_speedup = record.limits.goal_speedup;
  rule.tokens = record.limits.tokens;
  rule.money = record.limits.money;
  return rule;
}

RunState state_of(const SessionRecord& record) {
  RunState state;
  state.rounds_done = record.rounds_done;
  state.elapsed = std::chrono::duration<double>(record.used_s);
  state.best_after_round = record.best_after_round;
  state.failed = record.failed;
  state.roofline_share = record.roofline_share;
  state.accepted_ratio = record.accepted_ratio;
  state.usage = record.reported;
  return state;
}

}  // namespace

AgentSession::Work::Work(const AgentSession& session, const SessionRecord& record)
    : options(session.options_),
      trials(require(store::TrialStore::open(trials_file(session.options_)))),
      budget(std::chrono::seconds(record.limits.time_budget_s), std::chrono::duration<double>(record.used_s)),
      scope{session.context_,  session.variants_,    trials, options,
            session.progress_, session.interrupted_, budget, course},
      history(require(History::read(trials, session.context_.request.kernel, session.context_.architecture,
                                    session.context_.key.hash()))),
      bench(require(Workbench::open(session.context_, options.bench, session.progress_))) {
  options.time_budget = std::chrono::seconds(record.limits.time_budget_s);
  options.min_gain = record.limits.min_gain;
}

AgentSession::AgentSession(const build_step::KernelContext& context, store::VariantStore& variants,
                           const TuningOptions& options, ProgressObserver& progress,
                           const std::function<bool()>& interrupted)
    : context_(context),
      variants_(variants),
      options_(options),
      progress_(progress),
      interrupted_(interrupted),
      sessions_(sessions_folder(options.bench.state_folder, context.request.kernel, context.architecture)) {
  refresh();
}

void AgentSession::refresh() {
  record_ = require(newest_session(sessions_));
  if (record_ && !record_->finished.empty()) record_.reset();
  auto trials = require(store::TrialStore::open(trials_file(options_)));
  history_ = require(trials.trials(context_.request.kernel, context_.architecture, context_.key.hash()));
}

util::FileLock AgentSession::enter() {
  util::FileLock lock = require(lock_kernel(context_, options_, progress_, interrupted_));
  refresh();
  return lock;
}

void AgentSession::demand_open() const {
  const std::string& kernel = context_.request.kernel;
  if (!record_)
    throw UserError("no session is open for " + kernel + " on " + context_.architecture,
                    "kagent agent brief " + kernel);
  if (record_->key != context_.key.hash())
    throw UserError(fmt::format("the inputs of {} changed since session {} was opened (source, headers, definitions, "
                                "spec, golden data or reference)",
                                kernel, record_->number),
                    "kagent agent finish " + kernel + ", then kagent agent brief opens a session for the new ones");
}

void AgentSession::save() {
  require(write_session(sessions_, *record_));
}

void AgentSession::open(const SessionLimits& limits) {
  const util::FileLock lock = enter();
  if (!record_) {
    const auto last = require(newest_session(sessions_));
    demand_live_tunables(context_);
    record_.emplace();
    record_->number = last ? last->number + 1 : 1;
    record_->kernel = context_.request.kernel;
    record_->architecture = context_.architecture;
    record_->key = context_.key.hash();
    record_->started = util::utc_now();
    record_->limits = limits;
    record_->best_after_round = {best_ratio(history_)};
    const Choice choice = selection::choose(require(build_step::selection_inputs(context_, variants_)));
    if (choice.variant) record_->accepted_ratio = choice.variant->evidence.against_baseline.ratio;
  }
  demand_open();
  if (record_->baseline_times.empty()) {
    try {
      Work work(*this, *record_);
      measure_baseline(work);
    } catch (const UserError& error) {
      // Elsewhere, where the device is, the next step measures.
      progress_.on_event(Warning{fmt::format("not measured yet: {}", error.what())});
    }
  }
  save();
}

void AgentSession::measure_baseline(Work& work) {
  const auto raced = require(race(work.bench->runner(), work.bench->spec(), work.bench->baseline(),
                                  {work.bench->baseline()}, measuring(work.scope, *work.bench)));
  if (raced.front().outcome == Outcome::ok) record_->baseline_times = raced.front().cases;
  record_->device = work.bench->platform().device;
  record_->flags = build_step::portable_text(work.bench->toolchain().flags(), context_.request);
  record_->used_s = work.budget.elapsed().count();
}

ParentSource AgentSession::parent(const std::string& hash) const {
  if (hash.empty()) return {{.source = context_.source_text, .tunables = {}, .proposer = {}, .hypothesis = {}}, "", 1};
  const Trial* found = nullptr;
  for (const Trial& trial : history_)
    if (trial.candidate_hash.starts_with(hash)) {
      if (found && found->candidate_hash != trial.candidate_hash)
        throw UserError("'" + hash + "' begins the hashes of several candidates", "give more of it");
      found = &trial;
    }
  if (!found) throw UserError("there is no candidate '" + hash + "'", "kagent agent status lists them");
  return {found->candidate, found->candidate_hash, found->score.value_or(1)};
}

proposer::Prompt AgentSession::brief(const std::string& wanted, bool crossover) {
  const util::FileLock lock = enter();
  demand_open();
  const Archive archive(context_.source_text, history_, structural_distance);
  const std::vector<ParentSource> parents = archive.parents(2);
  ParentSource chosen;
  if (wanted.empty() || wanted == "best")
    chosen = parents.front();
  else if (wanted == "diverse")
    chosen = parents.back();
  else
    chosen = parent(wanted == "baseline" ? "" : wanted);
  std::optional<ParentSource> second;
  if (crossover) {
    for (const ParentSource& other : parents)
      if (other.hash != chosen.hash) second = other;
    if (!second) throw UserError("a crossover needs two sources that passed", "leave --crossover out");
  }
  record_->parent = chosen.hash;
  record_->second_parent = second ? second->hash : "";
  save();
  brief_ = facts_about(std::move(chosen), std::move(second));
  const proposer::Proposal proposal{context_.spec, brief_.parent.candidate.source, history_, 0, &brief_};
  proposer::Prompt prompt = proposer::make_prompt(proposal);
  require(write_brief(sessions_, *record_, prompt.system, prompt.text()));
  return prompt;
}

Brief AgentSession::profiled() const {
  demand_open();
  return facts_about(parent(record_->parent), std::nullopt);
}

Brief AgentSession::facts_about(ParentSource parent, std::optional<ParentSource> second) const {
  BriefInput input{.context = context_, .history = history_};
  input.device = record_->device;
  input.flags = record_->flags;
  input.baseline_times = record_->baseline_times;
  input.lessons = known_lessons(options_.bench.state_folder);
  input.state_folder = options_.bench.state_folder;
  input.round = record_->rounds_done + 1;
  input.rounds = record_->limits.rounds;
  input.bottlenecks = analyse_parent(input, parent.hash);
  return build_brief(input, std::move(parent), std::move(second));
}

void AgentSession::close_round(const History& history, const SubmitReport& report) {
  ++record_->rounds_done;
  record_->best_after_round.push_back(history.best_ratio());
  const ParentSource from = parent(record_->parent);
  const Trial* of_parent = from.hash.empty() ? nullptr : history.find(from.hash);
  const auto& times = of_parent && !of_parent->cases.empty() ? of_parent->cases : record_->baseline_times;
  const auto bottlenecks =
      analyse({context_.spec,
               context_.request.language,
               nullptr,
               times,
               options_.bench.state_folder,
               record_->device,
               {},
               store::profile_file(options_.bench.state_folder, record_->kernel, record_->architecture, from.hash)});
  std::vector<Trial> taught;
  for (const SubmissionResult& result : report.results)
    if (result.trial) taught.push_back(result.tuned ? *result.tuned : *result.trial);
  keep_lessons(options_.bench.state_folder, taught, from.ratio,
               bottlenecks ? pattern_of(*bottlenecks) : kUnknownPattern, features_of(context_.spec));
  if (auto reason = loop::reason_to_stop(rule_of(*record_, context_.spec), state_of(*record_)))
    record_->stopped = *reason;
}

TuningResult AgentSession::finish() {
  const util::FileLock lock = enter();
  if (!record_) demand_open();
  TuningResult result;
  result.trials = record_->trials;
  if (record_->reports > 0) result.usage["agent"] = record_->reported;
  result.reason = record_->stopped.empty() ? fmt::format("finished by the agent after {} round{}", record_->rounds_done,
                                                         record_->rounds_done == 1 ? "" : "s")
                                           : record_->stopped;
  if (!record_->accepted.empty()) {
    auto variant = variants_.find(record_->accepted.back());
    if (variant) result.variant = std::move(*variant);
  }
  auto trials = require(store::TrialStore::open(trials_file(options_)));
  const bool improved = !record_->accepted.empty();
  record_->finished = util::utc_now();
  // Where nothing was submitted there is no result to remember.
  if (improved || record_->rounds_done > 0) {
    require(trials.conclude({.kernel = record_->kernel,
                             .architecture = record_->architecture,
                             .key = record_->key,
                             .variant = improved ? record_->accepted.back() : "",
                             .reason = result.reason,
                             .trials = static_cast<int>(history_.size()),
                             .finished = record_->finished}));
    require(variants_.touch_stamp());
  }
  save();
  progress_.on_event(
      RunFinished{improved, result.reason, result.trials, std::chrono::seconds(static_cast<long>(record_->used_s))});
  record_.reset();
  return result;
}

SessionStatus AgentSession::status() const {
  SessionStatus status;
  if (record_) status.record = *record_;
  status.history = history_;
  const Choice choice = selection::choose(require(build_step::selection_inputs(context_, variants_)));
  if (choice.variant) status.incumbent = choice.variant->reference;
  return status;
}

std::optional<std::string> AgentSession::reason_to_stop() const {
  if (!record_) return std::nullopt;
  if (!record_->stopped.empty()) return record_->stopped;
  return loop::reason_to_stop(rule_of(*record_, context_.spec), state_of(*record_));
}

}  // namespace kagent::loop
