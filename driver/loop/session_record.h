// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "values/candidate.h"
#include "values/error.h"
#include "values/trial.h"

namespace kagent::loop {

// What a session was opened with; the same for all its steps.
struct SessionLimits {
  int rounds = 6;
  int time_budget_s = 300;  // of kagent's own work; thinking is free
  double min_gain = 0.01;
  std::optional<double> goal_speedup;
  std::optional<std::int64_t> tokens = {};  // that the agent may report
  std::optional<double> money = {};
};

// A loop that is driven from outside, between two steps: <state folder>/sessions/<kernel>/<architecture>/<NNN>/
// session.json. Holds no absolute path and nothing of a process, so that it goes on wherever the project, with the
// state folder, was copied to.
struct SessionRecord {
  int number = 0;  // from 1
  std::string kernel, architecture, key;
  std::string started;  // UTC, ISO 8601
  SessionLimits limits;
  std::string device, flags;              // of the machine that measured last
  std::vector<CaseTimes> baseline_times;  // empty: not measured yet
  std::string parent;                     // candidate hash of what the last brief showed; empty: the baseline
  std::string second_parent;              // for a crossover
  int rounds_done = 0;
  double used_s = 0;
  std::vector<double> best_after_round;
  std::vector<bool> failed;           // a trial each
  int trials = 0;                     // of this session
  int exchanges = 0;                  // recorded in this folder
  int reports = 0;                    // submissions whose agent said what they cost it
  Usage reported;                     // by the agent, in all of them
  std::vector<std::string> accepted;  // branches, oldest first
  double accepted_ratio = 1;          // of the newest, over the baseline
  std::optional<double> roofline_share;
  std::string stopped;   // why the rules ended it; empty while it goes on
  std::string finished;  // when it was concluded
};

// The folder of all sessions of a kernel on an architecture.
std::filesystem::path sessions_folder(const std::filesystem::path& state_folder, const std::string& kernel,
                                      const std::string& architecture);
std::filesystem::path session_folder(const std::filesystem::path& sessions, int number);

Result<void> write_session(const std::filesystem::path& sessions, const SessionRecord& record);
// The newest; nothing if there is none.
Result<std::optional<SessionRecord>> newest_session(const std::filesystem::path& sessions);

// Keeps what an agent is shown, for the record of what it answers.
Result<void> write_brief(const std::filesystem::path& sessions, const SessionRecord& record, const std::string& system,
                         const std::string& text);
// Records what was shown last and what was answered as the next exchange of the session, in the form of models'
// exchanges: it can be replayed like theirs. `reported`: what the agent says that the answer cost.
Result<void> record_exchange(const std::filesystem::path& sessions, SessionRecord& record, const std::string& model,
                             const std::string& answer, const std::optional<Usage>& reported);

}  // namespace kagent::loop
