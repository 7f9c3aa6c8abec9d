// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <variant>

#include "values/answer_counts.h"
#include "values/decision.h"
#include "values/outcome.h"
#include "values/phase_times.h"

namespace kagent {

// What happens in a tuning run, as it happens. All text may come from candidates: clean it before showing.

struct RunStarted {
  std::string kernel, target, architecture;
  std::string proposer;
  int rounds = 0, width = 0;
  std::chrono::seconds time_budget{0};
  int trials_on_record = 0;  // of an earlier run that is continued
};
// The long first step: compiling and checking baseline and reference, in words ("verifying the baseline").
struct Preparing {
  std::string step;
};
struct RoundStarted {
  int round = 0;  // from 1
};
// Totals of this run so far; sent whenever one of them changes.
struct StageCounts {
  int proposed = 0, compiled = 0, verified = 0, measured = 0;
  std::map<Outcome, int> failed;
  double best_ratio = 1;  // time of the best verified candidate over the baseline's, from racing
};
struct MeasuringFinalist {
  std::string against;  // "the incumbent", "the baseline"
  int pair = 0, pairs = 0;
};
// Device code that measured well runs under a tool that looks on.
struct CheckingFinalist {
  std::string tool;  // "compute-sanitizer memcheck"
};
struct FinalistChecked {
  std::string result;  // what each tool said, or why it said nothing
};
struct Accepted {
  std::string reference;  // branch
  Decision against_incumbent, against_baseline;
};
struct Rejected {  // a finalist that was measured and is not kept
  Decision decision;
};
struct Answered {  // what came of the questions to a model, of one round
  AnswerCounts counts;
};
struct Warning {
  std::string text;
};
struct RunFinished {
  bool improved = false;
  std::string reason;  // why it ended
  int trials = 0;
  std::chrono::seconds duration{0};
  PhaseTimes times = {};  // none where a run is made of steps of an agent
};

using ProgressEvent =
    std::variant<RunStarted, Preparing, RoundStarted, StageCounts, MeasuringFinalist, CheckingFinalist, FinalistChecked,
                 Accepted, Rejected, Answered, Warning, RunFinished>;

// Called from the thread that runs the loop; never throws.
class ProgressObserver {
 public:
  virtual ~ProgressObserver() = default;
  virtual void on_event(const ProgressEvent& event) = 0;
};

}  // namespace kagent
