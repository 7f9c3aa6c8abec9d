// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "values/bottleneck.h"
#include "values/candidate.h"
#include "values/kernel_request.h"
#include "values/outcome.h"

namespace kagent {

// The fastest time of one timed case so far, beside the baseline's.
struct CaseBest {
  std::string case_name;
  double weight = 1;
  double baseline_ns = 0, best_ns = 0;  // of a call
};

// What an earlier trial, perhaps of another kernel of the project, taught.
struct Lesson {
  std::string pattern;  // of the bottleneck that it was tried against
  std::string change;
  double effect = 1;  // time after / time before; meaningless where it failed
  Outcome outcome = Outcome::ok;
  std::string architecture;
  std::vector<std::string> features;  // of the kernel: "reduction", "fp16", "elementwise", ...
  std::string from;                   // kernel and candidate that it comes from
};

// A candidate that new ones start from.
struct ParentSource {
  Candidate candidate;  // the baseline's source for the baseline
  std::string hash;     // candidate hash; empty: the baseline
  double ratio = 1;     // time over the baseline's
};

// What the loop knows when it asks a proposer that writes code.
struct Brief {
  Language language = Language::cxx;
  std::string architecture, device;  // "sm_90a", "NVIDIA H200, 132 SMs, ..."
  std::string flags;                 // of the compiler, as one line
  int round = 1, rounds = 1;
  ParentSource parent;
  std::optional<ParentSource> second_parent;  // for a crossover
  std::vector<Bottleneck> bottlenecks;        // of the parent, a timed case each
  std::optional<double> roofline_share;       // of the best, weighted over the cases
  std::vector<CaseBest> cases;
  std::vector<Lesson> lessons;
};

// A candidate that failed, for its proposer to correct.
struct FailedCandidate {
  Candidate candidate;
  Outcome outcome = Outcome::compile_failed;
  std::string diagnostics;  // distilled: class, line, core message, the code around it
};

}  // namespace kagent
