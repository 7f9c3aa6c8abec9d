// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "loop/agent_work.h"
#include "loop/batch.h"
#include "loop/finalists.h"
#include "loop/numeric.h"
#include "loop/usage.h"
#include "loop/written.h"

namespace kagent::loop {
namespace {

// A source as an answer that could have been written instead.
std::string published_form(const std::string& source) {
  return "{\"hypothesis\": \"a source as a whole\"}\n```cpp\n" + source + "\n```\n";
}

}  // namespace

// What was handed in, as far as it can be tried.
struct AgentSession::Submitted {
  std::vector<Candidate> candidates;
  // Of each submission: its candidate, and the best values of its tunables where the search found better ones than it
  // came with. Empty: none.
  std::vector<std::string> hashes, tuned_hashes;
};

SubmitReport AgentSession::submit(const std::vector<Submission>& submissions, const std::string& model,
                                  const std::optional<Usage>& reported) {
  const util::FileLock lock = enter();
  demand_open();
  if (auto reason = reason_to_stop())
    throw UserError("the session has ended by itself: " + *reason,
                    "kagent agent finish " + context_.request.kernel + " concludes it");
  SubmitReport report;
  Submitted submitted = take_in(submissions, model, reported, report);
  save();  // what was said and what it cost stays counted, whatever becomes of this process

  Work work(*this, *record_);
  if (record_->baseline_times.empty()) measure_baseline(work);
  Finalists finalists(work.scope, work.bench.get(), work.history);
  finalists.look_at_incumbent();
  try_out(work, submitted, report);
  judge(finalists, report);

  history_ = work.history.trials();
  tell(work.history, submitted, report);
  if (!interrupted_()) close_round(work.history, report);
  record_->used_s = work.budget.elapsed().count();
  work.bench->drop_binaries();
  save();
  return report;
}

SubmissionResult AgentSession::read(const Submission& submission, std::optional<Candidate>& candidate) const {
  SubmissionResult result;
  result.name = submission.name;
  const ParentSource from = parent(record_->parent);
  auto written = submission.whole_source ? written_source(submission.text, from)
                                         : written_answer(submission.text, from, context_.spec);
  if (!written) {
    result.problem = written.error().message;
    return result;
  }
  candidate = std::move(*written);
  candidate->second_parent = record_->second_parent;
  return result;
}

AgentSession::Submitted AgentSession::take_in(const std::vector<Submission>& submissions, const std::string& model,
                                              const std::optional<Usage>& reported, SubmitReport& report) {
  Submitted submitted;
  submitted.tuned_hashes.resize(submissions.size());
  const std::vector<std::optional<Usage>> shares = shared_out(reported, submissions.size());
  if (reported) record_->reports += static_cast<int>(submissions.size()), record_->reported += *reported;
  for (std::size_t i = 0; i < submissions.size(); ++i) {
    const Submission& submission = submissions[i];
    std::optional<Candidate> candidate;
    report.results.push_back(read(submission, candidate));
    require(record_exchange(sessions_, *record_, model.empty() ? "agent" : model,
                            submission.whole_source ? published_form(submission.text) : submission.text, shares[i]));
    std::string hash;
    if (candidate) {
      candidate->model = model;
      if (shares[i]) candidate->role = "agent", candidate->usage = *shares[i];
      complete_tunables(*candidate, context_.spec);
      hash = candidate_hash(*candidate, context_.request);
      report.results.back().problem = why_not_again(hash, submitted.hashes);
    }
    const bool is_tried = candidate && report.results.back().problem.empty();
    submitted.hashes.push_back(is_tried ? hash : "");
    if (is_tried) submitted.candidates.push_back(std::move(*candidate));
  }
  return submitted;
}

std::string AgentSession::why_not_again(const std::string& hash, const std::vector<std::string>& of_this_step) const {
  const auto known = std::ranges::find(history_, hash, &Trial::candidate_hash);
  if (known != history_.end())
    return fmt::format("this very candidate is on record: {} ({})", name(known->outcome), known->detail);
  if (std::ranges::find(of_this_step, hash) != of_this_step.end())
    return "another submission of this step is the same candidate";
  return {};
}

void AgentSession::try_out(Work& work, Submitted& submitted, SubmitReport& report) {
  BatchRunner batches(work.scope, work.bench.get(), work.history);
  progress_.on_event(RoundStarted{record_->rounds_done + 1});
  const std::vector<std::string>& hashes = submitted.hashes;
  for (const Evaluated& one : batches.run(submitted.candidates)) {
    const auto index = static_cast<std::size_t>(std::ranges::find(hashes, one.trial.candidate_hash) - hashes.begin());
    if (index >= report.results.size()) continue;
    SubmissionResult& result = report.results[index];
    result.diagnostics = one.diagnostics;
    double best = one.trial.score.value_or(std::numeric_limits<double>::infinity());
    for (const Evaluated& point : batches.tune_own(one, options_.width)) {
      ++result.tuned_trials;
      if (point.trial.score && *point.trial.score < best)
        best = *point.trial.score, submitted.tuned_hashes[index] = point.trial.candidate_hash;
    }
    record_->failed.push_back(!std::isfinite(best));
    record_->trials += 1 + result.tuned_trials;
  }
  for (const SubmissionResult& result : report.results)
    if (!result.problem.empty()) record_->failed.push_back(true);
}

void AgentSession::tell(const History& history, const Submitted& submitted, SubmitReport& report) const {
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    SubmissionResult& result = report.results[i];
    const std::string &hash = submitted.hashes[i], &tuned = submitted.tuned_hashes[i];
    if (const Trial* trial = hash.empty() ? nullptr : history.find(hash)) result.trial = *trial;
    if (!tuned.empty()) result.tuned = *history.find(tuned);
    if (result.problem.empty() && !result.trial) result.problem = "interrupted before it was measured; submit it again";
  }
}

// Each acceptance moves the mark for the others.
void AgentSession::judge(Finalists& finalists, SubmitReport& report) {
  while (!interrupted_()) {
    const std::size_t before = report.accepted.size();
    const std::string last = finalists.accepted() ? finalists.accepted()->reference : "";
    finalists.judge_best(1 - record_->limits.min_gain / 2, kFinalists);
    if (finalists.accepted() && finalists.accepted()->reference != last)
      report.accepted.push_back(*finalists.accepted());
    if (finalists.roofline_share()) record_->roofline_share = finalists.roofline_share();
    if (report.accepted.size() == before) return;
    record_->accepted.push_back(report.accepted.back().reference);
    record_->accepted_ratio = report.accepted.back().evidence.against_baseline.ratio;
  }
}

}  // namespace kagent::loop
