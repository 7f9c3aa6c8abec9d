// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "loop/archive.h"
#include "loop/batch.h"
#include "loop/brief_builder.h"
#include "loop/course.h"
#include "loop/experience.h"
#include "loop/finalists.h"
#include "loop/history.h"
#include "loop/proposers.h"
#include "loop/run_scope.h"
#include "loop/stopping.h"
#include "loop/workbench.h"
#include "values/answer_counts.h"

namespace kagent::loop {

// The rounds of a run with a proposer that writes code. Its requests run on a thread of their own, and the search's
// candidates are measured meanwhile: a slow model never keeps the machine waiting while there is something to measure.
class WritingRounds {
 public:
  // `bench`: null for a replay, which compiles and measures nothing.
  WritingRounds(const RunScope& run, Workbench* bench, History& history, BatchRunner& batches, Proposers& proposers)
      : run_(run), bench_(bench), history_(history), batches_(batches), proposers_(proposers) {}

  // Asks, evaluates, repairs, tunes what was brought. Everything that finished, in order; `state` gets what the rules
  // for stopping want to know. Empty where the proposer gave nothing.
  std::vector<Evaluated> round(int number, RunState& state);

  // Why the search goes on alone, for this round or for good; nothing while the proposer is asked.
  std::optional<std::string> reason_to_skip(const RunState& state);
  // Whether it will not be asked any more.
  bool over() const { return over_; }

  // What would be sent first in a round, and where to.
  std::string preview(int number);

 private:
  struct Request;
  std::vector<Request> requests(int number);
  Brief brief(int number, ParentSource parent, std::optional<ParentSource> second);
  AnalysisFound analysed(BriefInput input, const std::string& hash) const;
  std::vector<CaseTimes> measured_baseline() const;
  std::vector<Candidate> ask(const std::vector<Request>& requests, std::vector<Evaluated>& finished);
  void wait_for_answers(const std::function<bool()>& answered, std::vector<Evaluated>& finished);
  void measure_meanwhile(std::vector<Evaluated>& finished);
  std::vector<Evaluated> repair(std::vector<Evaluated> failed, const std::vector<Request>& requests,
                                std::vector<Evaluated>& finished, std::vector<Evaluated>& given_up);
  void note_answers(const proposer::WritingRecord& record);
  void note_trouble();
  void reflect_on(const std::vector<Evaluated>& written, RunState& state);

  const RunScope& run_;
  Workbench* bench_;
  History& history_;
  BatchRunner& batches_;
  Proposers& proposers_;
  std::vector<CaseTimes> baseline_times_;
  std::vector<bool> faster_;  // every written candidate of this run that was measured or failed for good
  std::string pattern_ = kUnknownPattern;
  AnswerCounts answers_;  // of this round
  int troubles_ = 0;      // of the provider
  int skipped_ = 0;       // rounds in a row that a forecast left out
  bool pause_ = false, over_ = false;
  std::string spent_;  // which budget has too little left for the next question
};

}  // namespace kagent::loop
