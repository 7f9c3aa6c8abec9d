// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "values/candidate.h"
#include "values/decision.h"
#include "values/outcome.h"
#include "values/verdict.h"

namespace kagent {

// What racing saw of one timed case: times of a call, of one process each.
struct CaseTimes {
  std::string case_name;
  double weight = 1;
  double baseline_ns = 0, candidate_ns = 0;
};

// The record of one candidate's way through the stages, whatever its outcome.
struct Trial {
  std::int64_t id = 0;  // given by the store
  std::string kernel;
  std::string architecture;    // as filed: "x86-64-v3"
  std::string key;             // KernelKey::hash: what the trial is valid for
  std::string candidate_hash;  // SHA-256 of the rendered source
  std::string object_hash;     // empty if it did not compile
  Candidate candidate;
  Outcome outcome = Outcome::ok;
  std::string detail;            // one line
  std::optional<double> score;   // from racing: time over the baseline's, weighted geometric mean over the timed cases
  std::vector<CaseTimes> cases;  // with the score
  std::string reflection;        // what was expected of it beside what was measured; empty before that
  std::optional<double> error_over_bound;  // largest error of any output over what is allowed, if it was checked
  double compile_s = 0, verify_s = 0, measure_s = 0;
  std::string started;  // UTC, ISO 8601
};

}  // namespace kagent
