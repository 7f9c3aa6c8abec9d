// SPDX-License-Identifier: Apache-2.0
#include "loop/verification.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "loop/reference.h"
#include "spec/spec.h"

namespace kagent::loop {
namespace {

using runner::CallLayout;
using runner::Placement;
using runner::Session;

// Two patterns whose bytes differ everywhere: an element that keeps both was not written. As floats both are finite
// and unlike any result.
constexpr std::uint8_t kFirstPoison = 0xA5;
constexpr std::uint8_t kSecondPoison = 0x5A;
// Runs on equal inputs that must agree bit by bit (facts: numerics, harness).
constexpr int kRepeats = 5;
// A candidate may be this much slower than the baseline before it counts as hung, plus a fixed allowance for start-up
// work in its first call.
constexpr int kStepFactor = 20;
constexpr std::chrono::milliseconds kStepAllowance{2'000};
// One call of the reference or the baseline. Checks call them dozens of times: one that takes longer needs smaller
// cases.
constexpr std::chrono::seconds kOwnStepLimit{60};
// Checks that the project's own programs are asked about at a time: the large ones, which take the time, are few, and
// must not fill a device together that has room for one, nor the machine's memory.
constexpr std::int64_t kMostWorkers = 4, kMostElementsAtOnce = std::int64_t{512} << 20;
// Of an element of a check, at most: as it is, widened, and in the reference's process, and the same of its magnitude.
constexpr std::int64_t kBytesOfElement = 48;

// What to correct where the baseline fails; `output` is the one that failed, where one did.
std::string advice(const KernelSpec& spec, const std::string& output = {}) {
  std::string fix =
      "correct the kernel, the tolerance or the reference; an edge input that the operation does not define belongs "
      "into stress.skip of kernel.json, one that sizes forbid into \"requires\"";
  const auto tolerance = spec.tolerance.find(output);
  if (tolerance == spec.tolerance.end()) return fix;
  // Rounding errors of a sum grow with its terms, and not with what is left of them.
  std::string missing;
  if (!tolerance->second.reduction_length) missing = "\"reduction_length\"";
  if (!tolerance->second.contraction)
    missing += (missing.empty() ? "" : " and ") + std::string("\"contraction\": true");
  if (!missing.empty()) fix += fmt::format("; if an element of {} is a sum, its tolerance needs {}", output, missing);
  return fix;
}

std::string failing_output(const Verdict& verdict) {
  for (const OutputError& error : verdict.errors)
    if (error.failing_elements > 0) return error.parameter;
  return {};
}

// Runs the baseline on a check: its outputs where nothing better is known, its errors otherwise. It must pass.
Result<std::chrono::nanoseconds> ask_baseline(const KernelSpec& spec, Session& baseline, Check& check) {
  auto called = call_once(baseline, check.inputs, {});
  if (!called) return std::unexpected(called.error());
  const bool too_much = called->result.outcome == Outcome::limits_exceeded;
  if (called->result.outcome != Outcome::ok)
    return failure(
        fmt::format("the baseline itself fails on {}: {} ({})", check.inputs.label, name(called->result.outcome),
                    called->result.detail),
        too_much ? "have the kernel, or \"launch\" in kernel.json, ask for less; sizes that no device can run are "
                   "forbidden by \"requires\""
                 : advice(spec));
  if (check.expected.tensors.empty()) {
    check.expected.from = ExpectedFrom::baseline;
    check.expected.tensors = written_tensors(spec, called->images, true);
    return called->result.child_time;
  }
  Verdict verdict = verifier::compare(spec, check.inputs, check.expected, called->images);
  if (verdict.outcome != Outcome::ok)
    return failure("the baseline itself is outside of its tolerance: " + verdict.reason,
                   advice(spec, failing_output(verdict)));
  check.baseline_errors = verifier::baseline_errors(verdict);
  return called->result.child_time;
}

std::int64_t count_elements(const KernelSpec& spec, const CallInputs& inputs) {
  std::int64_t count = 0;
  for (const Parameter& parameter : spec.parameters) {
    if (!parameter.is_buffer()) continue;
    auto shape = spec::extents(parameter, inputs.sizes);
    if (shape) count += Tensor{parameter.dtype, *shape, {}}.element_count();
  }
  return count;
}

std::string_view name(ExpectedFrom from) {
  switch (from) {
    case ExpectedFrom::recorded:
      return "recorded";
    case ExpectedFrom::reference:
      return "reference";
    case ExpectedFrom::baseline:
      return "baseline";
  }
  return "";
}

// The same inputs with a few elements in the middle of each tensor replaced by others of it; the first and last stay.
CallInputs alter(CallInputs inputs, std::uint64_t seed) {
  constexpr int kAltered = 3;
  std::mt19937_64 random(seed);
  for (auto& [name, tensor] : inputs.tensors) {
    const std::int64_t count = tensor.element_count();
    if (count < 4) continue;
    const auto inner = [&] { return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count - 2)); };
    const std::size_t size = size_bytes(tensor.dtype);
    for (int i = 0; i < kAltered; ++i)
      std::memcpy(tensor.bytes.data() + static_cast<std::size_t>(inner()) * size,
                  tensor.bytes.data() + static_cast<std::size_t>(inner()) * size, size);
  }
  inputs.label += "/altered";
  return inputs;
}

// The spec's cases, hidden sizes and edge inputs, cheap first and timed last.
Result<std::vector<Check>> plan(const KernelSpec& spec, std::uint64_t seed) {
  std::vector<Check> checks;
  auto add = [&](CallInputs inputs, bool timed) {
    Check check{.inputs = std::move(inputs), .expected = {}, .baseline_errors = {}, .elements = 0, .timed = timed};
    check.elements = count_elements(spec, check.inputs);
    checks.push_back(std::move(check));
  };
  for (const Case& one : spec.cases) {
    auto inputs = spec::generate_inputs(spec, one, seed);
    if (!inputs) return std::unexpected(inputs.error());
    auto recorded = spec::recorded_expected(spec, one);
    if (!recorded) return std::unexpected(recorded.error());
    if (one.timed) {
      CallInputs altered = alter(*inputs, seed);
      add(std::move(*inputs), true);
      if (*recorded) checks.back().expected = std::move(**recorded);
      add(std::move(altered), true);
      checks.back().altered = true;
      continue;
    }
    add(std::move(*inputs), false);
    if (*recorded) checks.back().expected = std::move(**recorded);
  }
  for (const Case& one : spec::hidden_cases(spec, seed)) {
    auto inputs = spec::generate_inputs(spec, one, seed);
    if (!inputs) return std::unexpected(inputs.error());
    add(std::move(*inputs), false);
  }
  if (const auto base = spec::edge_case(spec)) {
    auto edges = spec::edge_inputs(spec, *base, seed);
    if (!edges) return std::unexpected(edges.error());
    for (CallInputs& inputs : *edges) add(std::move(inputs), false);
  }
  std::ranges::stable_sort(checks, {}, [](const Check& check) { return std::pair(check.timed, check.elements); });
  return checks;
}

// A spec under which a trivial output passes on a timed case proves nothing.
Result<void> demand_sharpness(const KernelSpec& spec, const Check& check) {
  if (!check.timed || check.elements == 0) return {};
  std::vector<std::string> passing = verifier::trivial_passes(spec, check.inputs, check.expected);
  if (passing.empty()) return {};
  return failure(fmt::format("{}: the tolerance is so loose that a trivial output passes: {}", check.inputs.label,
                             passing.front()),
                 "make the tolerance in kernel.json tighter, or the inputs larger in magnitude");
}

std::int64_t processors() {
  return std::max(1U, std::thread::hardware_concurrency());
}

// Whether the reference is asked for a result and its magnitudes at once. On one processor each would wait for the
// other, within the time that one call has.
bool asks_beside(const KernelSpec& spec) {
  return has_contraction(spec) && processors() > 1;
}

// Live processes of the project's own programs.
struct OwnSessions {
  std::unique_ptr<Session> baseline;
  std::unique_ptr<Session> reference;  // null where the spec names none
  std::unique_ptr<Session> beside;     // another one of it, where it is asked for magnitudes too
};

Result<OwnSessions> start_own(const KernelSpec& spec, const OwnPrograms& programs, const runner::RunnerLimits& limits) {
  OwnSessions sessions;
  auto baseline = programs.runner.start(programs.baseline, spec.parameters, limits);
  if (!baseline) return std::unexpected(baseline.error());
  sessions.baseline = std::move(*baseline);
  if (!programs.reference) return sessions;
  for (std::unique_ptr<Session>* one : {&sessions.reference, &sessions.beside}) {
    if (one == &sessions.beside && !asks_beside(spec)) continue;
    auto reference = programs.reference_runner.start(*programs.reference, reference_parameters(spec), limits);
    if (!reference) return std::unexpected(reference.error());
    *one = std::move(*reference);
  }
  return sessions;
}

// What is expected of a check, and how far the baseline is from it. How long the baseline's call took.
Result<std::chrono::nanoseconds> complete(const KernelSpec& spec, const OwnSessions& own, Check& check) {
  // A recorded contraction still needs S from the reference; recorded values stay the expected ones.
  const bool recorded = !check.expected.tensors.empty();
  if (own.reference && (!recorded || has_contraction(spec))) {
    auto asked = ask_reference(spec, *own.reference, check.inputs, own.beside.get());
    if (!asked) return std::unexpected(asked.error());
    if (recorded)
      check.expected.magnitude = std::move(asked->magnitude);
    else
      check.expected = std::move(*asked);
  }
  auto time = ask_baseline(spec, *own.baseline, check);
  if (!time) return time;
  if (auto done = demand_sharpness(spec, check); !done) return std::unexpected(done.error());
  return time;
}

// More programs than processors would be slower than their step's limit knows of.
std::size_t workers_for(const KernelSpec& spec, const std::vector<Check>& checks) {
  std::int64_t largest = 1;
  for (const Check& check : checks) largest = std::max(largest, check.elements);
  const std::int64_t memory = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  const std::int64_t fitting = std::min(kMostElementsAtOnce, memory / 2 / kBytesOfElement) / largest;
  const std::int64_t at_a_time = processors() / (asks_beside(spec) ? 2 : 1);
  return static_cast<std::size_t>(std::max<std::int64_t>(std::min({kMostWorkers, fitting, at_a_time}), 1));
}

// Completes all checks, several at a time. The time of the baseline's slowest call; of errors that of the cheapest
// check that has one.
Result<std::chrono::nanoseconds> ask_own_programs(const KernelSpec& spec, const OwnPrograms& programs,
                                                  const runner::RunnerLimits& limits, std::vector<Check>& checks) {
  // The project's own code gets all the time it needs, within reason.
  runner::RunnerLimits patient = limits;
  patient.step = kOwnStepLimit;
  std::mutex mutex;
  std::size_t next = 0;
  std::optional<std::pair<std::size_t, StageError>> failed;  // the check whose error counts
  std::chrono::nanoseconds slowest{0};
  const auto note = [&](std::size_t at, const Result<std::chrono::nanoseconds>& time) {
    const std::scoped_lock lock(mutex);
    if (time) {
      slowest = std::max(slowest, *time);
    } else if (!failed || at < failed->first) {
      failed = {at, time.error()};
    }
  };
  const auto take = [&]() -> std::optional<std::size_t> {
    const std::scoped_lock lock(mutex);
    return !failed && next < checks.size() ? std::optional(next++) : std::nullopt;
  };
  // Only the first has to start: a device or a machine may have no room for more processes.
  const auto work = [&](bool first) {
    auto own = start_own(spec, programs, patient);
    if (!own && first) note(0, std::unexpected(own.error()));
    if (!own) return;
    while (const auto at = take()) note(*at, complete(spec, *own, checks[*at]));
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < workers_for(spec, checks); ++i)
    others.push_back(std::async(std::launch::async, work, false));
  work(true);
  for (std::future<void>& other : others) other.get();  // what it threw is thrown here
  if (failed) return std::unexpected(failed->second);
  return slowest;
}

CallLayout layout_of(std::size_t check) {
  constexpr std::array<CallLayout, 3> kLayouts{{
      {Placement::aligned, 0, kFirstPoison},
      {Placement::end_of_block, 0, kFirstPoison},
      {Placement::aligned, 1, kFirstPoison},
  }};
  return kLayouts[check % kLayouts.size()];
}

}  // namespace

Result<VerificationSuite> VerificationSuite::prepare(const KernelSpec& spec, const OwnPrograms& programs,
                                                     std::uint64_t seed, const runner::RunnerLimits& limits) {
  VerificationSuite suite;
  suite.spec_ = &spec;
  suite.limits_ = limits;
  auto checks = plan(spec, seed);
  if (!checks) return std::unexpected(checks.error());
  suite.checks_ = std::move(*checks);
  const auto slowest = ask_own_programs(spec, programs, limits, suite.checks_);
  if (!slowest) return std::unexpected(slowest.error());
  for (const Check& check : suite.checks_)
    if (spec.find_case(check.inputs.label))
      suite.expected_from_.push_back(fmt::format("{}: {}", check.inputs.label, name(check.expected.from)));
  suite.limits_.step = kStepAllowance + kStepFactor * std::chrono::ceil<std::chrono::milliseconds>(*slowest);
  return suite;
}

Result<VerificationReport> VerificationSuite::verify(const Binary& binary, runner::Runner& runner) const {
  VerificationReport report;
  auto started = runner.start(binary, spec_->parameters, limits_);
  if (!started) return std::unexpected(started.error());
  Session& session = **started;

  // Takes a verdict into the report; false ends the verification.
  auto passes = [&report](Verdict verdict) {
    for (const OutputError& error : verdict.errors) {
      double& most = report.max_error_over_bound[error.parameter];
      most = std::max(most, error.error_over_bound);
    }
    if (verdict.outcome != Outcome::ok) report.outcome = verdict.outcome, report.detail = verdict.reason;
    report.verdicts.push_back(std::move(verdict));
    return report.outcome == Outcome::ok;
  };
  auto failed = [&report](const Check& check, const RunResult& result) {
    report.outcome = result.outcome;
    report.detail = check.inputs.label + ": " + result.detail;
    return report;
  };

  bool repeated = false;
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    const Check& check = checks_[i];
    auto first = check.altered ? call_again(session, check.inputs, kFirstPoison)
                               : call_once(session, check.inputs, layout_of(i));
    if (!first) return std::unexpected(first.error());
    if (first->result.outcome != Outcome::ok) return failed(check, first->result);
    if (!passes(verifier::compare(*spec_, check.inputs, check.expected, first->images, &check.baseline_errors)))
      return report;

    // The cheapest check that has data is repeated to see whether results are stable; the others run twice, for the
    // poison.
    const int repeats = !repeated && check.elements > 0 ? kRepeats : 2;
    repeated = repeated || check.elements > 0;
    for (int repeat = 1; repeat < repeats; ++repeat) {
      auto again = call_again(session, check.inputs, kSecondPoison);
      if (!again) return std::unexpected(again.error());
      if (again->result.outcome != Outcome::ok) return failed(check, again->result);
      if (!passes(verifier::check_written(*spec_, check.inputs, first->images, kFirstPoison, again->images,
                                          kSecondPoison)) ||
          !passes(verifier::check_repeat(*spec_, check.inputs, first->images, again->images)) ||
          !passes(verifier::compare(*spec_, check.inputs, check.expected, again->images, &check.baseline_errors)))
        return report;
    }
  }
  return report;
}

}  // namespace kagent::loop
