// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loop/acceptance.h"
#include "loop/evaluation.h"
#include "profiler/roofline.h"
#include "values/bottleneck.h"
#include "values/trial.h"

// The steps of a run's course as lines of JSON. Reading throws UserError for a line that is damaged.
namespace kagent::loop {

// What a run began with, beside the trials and lessons that were on record.
struct CourseBeginning {
  std::string kernel, architecture, key;
  std::string started;  // UTC, ISO 8601
  std::string kagent_version;
  std::string device, flags;  // of the machine that measured
  std::string proposer;
  int rounds = 0, width = 0, population = 0;
  std::int64_t time_budget_s = 0;
  double min_gain = 0;
  std::optional<double> goal_speedup, money;
  std::optional<std::int64_t> tokens;
};

// How it ended.
struct CourseEnd {
  bool interrupted = false;
  std::string reason, variant;  // the branch; empty: nothing was accepted
  int trials = 0;
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::string decisions;  // digest of what became of every candidate

  bool operator==(const CourseEnd&) const = default;
};

struct IncumbentFound {
  std::string reference;  // empty: the baseline
  double ratio = 1;       // of its time over the baseline's
  // What the roofline shares of this run are of. All 0 for a C++ kernel whose kernel.json counts no work.
  profiler::Ceilings ceilings = {};
  std::optional<double> roofline_share = {};  // of a variant
};

struct AnalysisFound {
  std::vector<CaseTimes> baseline_times;
  std::vector<Bottleneck> bottlenecks;
};

// The kind of a step, as its line says; empty for a line that is none, such as one that was cut off.
std::string course_kind(const std::string& line);

std::string course_line(const CourseBeginning& beginning);
CourseBeginning read_beginning(const std::string& line);
std::string course_line(const CourseEnd& end);
CourseEnd read_end(const std::string& line);
std::string course_line(const IncumbentFound& found);
IncumbentFound read_incumbent(const std::string& line);
std::string clock_line(double elapsed_s);
double read_clock(const std::string& line);
// That the search measured a batch while an answer was waited for.
std::string meanwhile_line();

std::string course_line(const std::string& parent, const AnalysisFound& found);
AnalysisFound read_analysis(const std::string& line, std::string& parent);

// `asked` and what came of them, in the order in which they finished.
std::string course_line(const std::vector<std::string>& asked, const std::vector<Evaluated>& found);
// The candidates themselves are not in it.
std::vector<Evaluated> read_batch(const std::string& line, std::vector<std::string>& asked);

std::string course_line(const std::string& candidate, const JudgedFinalist& judged);
JudgedFinalist read_judged(const std::string& line, std::string& candidate);

}  // namespace kagent::loop
