// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/runner.h"
#include "values/binary.h"
#include "values/case_data.h"
#include "values/kernel_spec.h"
#include "values/verdict.h"
#include "verifier/verifier.h"

namespace kagent::loop {

// One set of inputs with what is known about its results.
struct Check {
  CallInputs inputs;
  Expected expected;
  verifier::BaselineErrors baseline_errors;
  std::int64_t elements = 0;  // over all buffers: what is cheap comes first
  bool altered = false;       // the contents of the check before it but for a few elements, at the same addresses: what
                              // remembers results by a sample of the contents gives the old ones
  bool timed = false;         // of a timed case: always after the untimed ones
};

// What a binary's way through the checks gave.
struct VerificationReport {
  Outcome outcome = Outcome::ok;
  std::string detail;                                  // of the first failure
  std::vector<Verdict> verdicts;                       // of the checks that ran to a verdict
  std::map<std::string, double> max_error_over_bound;  // an output, over all checks
};

// The project's own programs, and what runs them.
struct OwnPrograms {
  runner::Runner& runner;  // of the baseline, and later of candidates
  const Binary& baseline;
  runner::Runner& reference_runner;
  const std::optional<Binary>& reference;  // absent where the spec names none
};

// The checks of one kernel under one secret seed: the spec's cases, hidden sizes and edge inputs, cheap ones first.
// Everything but the candidate's own runs is done once, by prepare().
class VerificationSuite {
 public:
  // Runs reference and baseline on every check. The baseline must pass its own spec: if it fails, the error says where
  // and how to go on.
  static Result<VerificationSuite> prepare(const KernelSpec& spec, const OwnPrograms& programs, std::uint64_t seed,
                                           const runner::RunnerLimits& limits);

  // Runs every check in a fresh process, in different placements and with different poison, and stops at the first
  // failure. Safe to call from several threads.
  Result<VerificationReport> verify(const Binary& binary, runner::Runner& runner) const;

  const std::vector<Check>& checks() const { return checks_; }
  // "training: reference", one line for each case of the spec.
  const std::vector<std::string>& expected_from() const { return expected_from_; }
  // A step may take this long: a multiple of the baseline's slowest call.
  std::chrono::milliseconds step_limit() const { return limits_.step; }

 private:
  const KernelSpec* spec_ = nullptr;
  runner::RunnerLimits limits_;
  std::vector<Check> checks_;
  std::vector<std::string> expected_from_;
};

}  // namespace kagent::loop
