// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "build_step/kernel_context.h"
#include "loop/session_record.h"
#include "loop/tuning.h"
#include "proposer/prompt.h"
#include "store/variant_store.h"
#include "util/lock.h"
#include "values/brief.h"
#include "values/progress.h"

namespace kagent::loop {

class Finalists;
class History;

// What an agent hands in.
struct Submission {
  std::string name;           // of the file, for messages
  std::string text;           // an answer in the published form, or the source itself
  bool whole_source = false;  // the text is the source
};

// What became of one submission.
struct SubmissionResult {
  std::string name;
  std::string problem;         // why the answer could not be read or applied; then there is no trial
  std::optional<Trial> trial;  // the candidate as it was written
  std::string diagnostics;     // of a failure, distilled
  std::optional<Trial> tuned;  // the best values of its tunables, where the search found better ones
  int tuned_trials = 0;
};

struct SubmitReport {
  std::vector<SubmissionResult> results;
  std::vector<Variant> accepted;  // in this step
};

struct SessionStatus {
  SessionRecord record;
  std::vector<Trial> history;            // of the kernel, architecture and key: oldest first
  std::optional<std::string> incumbent;  // what a build takes now; nothing: the baseline
};

// The loop driven from outside: brief, submit, ..., finish, each perhaps in another process, hours apart, on another
// machine. The rules for stopping are those of any run, and acceptance is kagent's alone. All throw UserError where a
// stage cannot do its job; everything finished is on record by then.
class AgentSession {
 public:
  AgentSession(const build_step::KernelContext& context, store::VariantStore& variants, const TuningOptions& options,
               ProgressObserver& progress, const std::function<bool()>& interrupted);

  // The session that is open, if one is.
  const std::optional<SessionRecord>& record() const { return record_; }
  // Opens a session if none is. The kernel has to pass its own checks before anything is asked of an agent; where this
  // machine cannot run it, the session goes without times until one does.
  void open(const SessionLimits& limits);
  // The task as it stands: what a model is told. `parent`: "best", "baseline", "diverse", or the start of a candidate's
  // hash; empty: the best.
  proposer::Prompt brief(const std::string& parent, bool crossover);
  Brief facts() const { return brief_; }  // of the last brief()
  // The same of what the last brief of any process started from; changes nothing.
  Brief profiled() const;
  // Everything from reading the answers to accepting: one round. `reported`: what the agent says that it used for them
  // all; it is counted, and shared out among them.
  SubmitReport submit(const std::vector<Submission>& submissions, const std::string& model,
                      const std::optional<Usage>& reported = std::nullopt);
  // Ends the session, and with it the tuning of this kernel for this key.
  TuningResult finish();
  SessionStatus status() const;
  // Why the rules say that nothing more is to be submitted; nothing while the session goes on.
  std::optional<std::string> reason_to_stop() const;

 private:
  struct Work;
  struct Submitted;
  void demand_open() const;
  // Waits for other processes that work on this kernel, and reads what they left.
  util::FileLock enter();
  void refresh();
  void save();
  ParentSource parent(const std::string& hash) const;
  Brief facts_about(ParentSource parent, std::optional<ParentSource> second) const;
  SubmissionResult read(const Submission& submission, std::optional<Candidate>& candidate) const;
  void measure_baseline(Work& work);
  // The parts of submit(), in their order. Each tells the report what became of the submissions.
  Submitted take_in(const std::vector<Submission>& submissions, const std::string& model,
                    const std::optional<Usage>& reported, SubmitReport& report);
  std::string why_not_again(const std::string& hash, const std::vector<std::string>& of_this_step) const;
  void try_out(Work& work, Submitted& submitted, SubmitReport& report);
  void judge(Finalists& finalists, SubmitReport& report);
  void tell(const History& history, const Submitted& submitted, SubmitReport& report) const;
  void close_round(const History& history, const SubmitReport& report);

  const build_step::KernelContext& context_;
  store::VariantStore& variants_;
  const TuningOptions& options_;
  ProgressObserver& progress_;
  const std::function<bool()>& interrupted_;
  std::filesystem::path sessions_;
  std::optional<SessionRecord> record_;
  std::vector<Trial> history_;
  Brief brief_;
};

}  // namespace kagent::loop
