// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "values/answer_counts.h"
#include "values/candidate.h"

namespace kagent::loop {

// When a run ends by itself. Every limit of the user's is in here; what is in it has its reason in DESIGN.md, 'The
// loop'.
struct StoppingRule {
  int rounds = 6;
  std::chrono::seconds time_budget{300};
  // Kept back from the time budget for judging the finalists.
  double judging_share = 0.25;
  std::optional<double> goal_roofline;  // share of the roofline at which nobody need look further
  std::optional<double> goal_speedup;   // over the baseline, of what was accepted
  std::optional<std::int64_t> tokens;   // read and written by models, all roles together
  std::optional<double> money;          // in the currency of the configured prices
};

struct RunState {
  int rounds_done = 0;  // this run's and, for a continued run, those on record
  std::chrono::duration<double> elapsed{0};
  std::vector<double> best_after_round;  // time of the best over the baseline's: before this run, after each round
  std::vector<bool> failed;              // every trial of this run, in order: whether it failed before measuring
  bool space_exhausted = false;          // nothing is left to try
  bool has_space = true;                 // there was something for the search: the spec has tunables
  std::optional<double> roofline_share;  // of the incumbent, as far as the spec counts its work
  double accepted_ratio = 1;             // time of what was accepted over the baseline's
  Usage usage;                           // of models, over the whole run
  AnswerCounts answers;                  // the same
  std::string spent;                     // which budget of the models has too little left for another answer
  // Every candidate of a proposer that writes code, its repairs included, in order: whether it failed in the end.
  std::vector<bool> written_failed;
};

// Whether the time is used but for what is kept back for judging.
bool time_is_used(const StoppingRule& rule, const RunState& state);

// Why to stop before another round, in words; nothing to go on.
std::optional<std::string> reason_to_stop(const StoppingRule& rule, const RunState& state);

// Why the built-in search goes on without the proposer that writes code, in words; nothing to go on with it: more than
// a fifth of a full window of its candidates failed, their repairs included.
std::optional<std::string> reason_to_fall_back(const RunState& state);

}  // namespace kagent::loop
