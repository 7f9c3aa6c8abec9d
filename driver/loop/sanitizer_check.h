// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "loop/verification.h"
#include "runner/sanitizer.h"
#include "values/outcome.h"
#include "values/progress.h"

namespace kagent::loop {

// What compute-sanitizer said of a finalist.
struct SanitizerReport {
  Outcome outcome = Outcome::ok;             // sanitizer_error: a tool found more than it finds in the baseline
  std::string detail;                        // of the first such finding
  std::map<std::string, std::string> tools;  // as in Evidence: "clean", or what else, or why it said nothing
  bool interrupted = false;                  // then nothing was decided
};

// The two programs as the build makes them, and what both are called with.
struct SanitizerSubject {
  const Binary& finalist;
  const Binary& baseline;
  const std::vector<Parameter>& parameters;
  const CallInputs& inputs;
};

struct SanitizerCheckOptions {
  runner::CudaRunnerOptions runner;
  runner::SanitizerOptions how;              // with an empty path: it is not installed, and the report says so
  std::chrono::milliseconds total{120'000};  // no tool but the first is started past it
  std::function<bool()> interrupted;
};

// One call of the finalist under memcheck, racecheck, initcheck and synccheck each. A tool that is not installed, fails
// or takes too long says nothing about the code, and the report says that.
SanitizerReport check_under_sanitizer(const SanitizerSubject& subject, const SanitizerCheckOptions& options,
                                      ProgressObserver& progress);

// "memcheck, synccheck: clean; racecheck: timed_out: ...": tools that say the same stand together.
std::string in_words(const std::map<std::string, std::string>& tools);

// Of the checks, the one to call it with: the largest that is no burden to a tool that slows every access down.
const Check& check_for_sanitizer(const std::vector<Check>& checks);

}  // namespace kagent::loop
