// SPDX-License-Identifier: Apache-2.0
#include "loop/profile.h"

#include <algorithm>
#include <future>
#include <system_error>
#include <utility>

#include "loop/code_facts.h"
#include "profiler/counters.h"
#include "runner/processor_counters.h"
#include "spec/spec.h"
#include "store/profile_record.h"

namespace kagent::loop {
namespace {

namespace fs = std::filesystem;

// On a GPU the fastest of a few cold calls, and the counters of one more. On the host, whose profile is compared with
// no other time, the counters alone.
store::ProfileRecord::OfCase profile_case(runner::Session& session, const CallInputs& inputs, bool on_gpu) {
  constexpr int kCalls = 5;
  store::ProfileRecord::OfCase seen;
  const auto fails = [&seen](const auto& step, const RunResult* result) {
    if (!step)
      seen.problem = step.error().message;
    else if (result->outcome != Outcome::ok)
      seen.problem = result->detail;
    return !seen.problem.empty();
  };
  const auto ready = session.prepare(0, inputs, {});
  if (fails(ready, ready ? &*ready : nullptr)) return seen;
  for (int i = 0; on_gpu && i < kCalls; ++i) {
    const auto sample = session.sample({.slots = {0}, .repetitions = 1, .cold = true});
    if (fails(sample, sample ? &*sample : nullptr)) return seen;
    const auto time = static_cast<double>(sample->child_time.count());
    seen.time_ns = i == 0 ? time : std::min(seen.time_ns, time);
  }
  auto counters = session.count(0, on_gpu ? profiler::wanted_counters() : runner::ProcessorCounters::names());
  if (!counters) {
    seen.problem = counters.error().message;
    return seen;
  }
  seen.kernels = std::move(counters->kernels);
  seen.problem = std::move(counters->problem);
  return seen;
}

KernelTrace trace_case(runner::Session& session, const CallInputs& inputs) {
  KernelTrace trace;
  const auto ready = session.prepare(0, inputs, {});
  if (!ready || ready->outcome != Outcome::ok) {
    trace.problem = ready ? ready->detail : ready.error().message;
    return trace;
  }
  auto traced = session.trace(0);
  if (traced) return std::move(*traced);
  trace.problem = traced.error().message;
  return trace;
}

// The program's device code: with the places in the source, which takes a compile of its own, where it can be read at
// all.
CodeFacts code_of(Workbench& bench, const Binary& binary, const Candidate* candidate) {
  const fs::path& compiler = bench.context().command.compiler;
  const std::string& source = candidate ? candidate->source : bench.context().source_text;
  CodeFacts facts = read_code(device_code_of(binary), compiler, source);
  if (facts.text.empty()) return facts;
  const auto with_lines = bench.compile_with_lines(candidate);
  if (with_lines && with_lines->outcome == Outcome::ok) {
    facts = read_code(device_code_of(with_lines->binary), compiler, source);
    std::error_code ignored;
    fs::remove_all(with_lines->binary.executable.parent_path(), ignored);
  }
  if (facts.lines.empty()) facts.reason = "without the places in the source: it could not be compiled with -lineinfo";
  return facts;
}

// Runs each timed case, on the device's lane. False where the machine cannot start the program.
bool look_at_cases(Workbench& bench, const Binary& binary, store::ProfileRecord& record) {
  const bool on_gpu = bench.platform().gpu.has_value();
  const auto lane = enter_lane(bench.measuring(), "profiling " + bench.spec().kernel);
  if (!lane) return false;
  runner::RunnerLimits limits = bench.limits();
  limits.reads_counters = true;
  // A process each: the profiler changes what comes after it, and one that failed may not be asked for anything else.
  const auto start = [&] { return bench.runner().start(binary, bench.built_spec().parameters, limits); };
  for (const Case& timed : bench.built_spec().cases) {
    if (!timed.timed) continue;
    store::ProfileRecord::OfCase& seen = record.cases[timed.name];
    const auto inputs = spec::generate_inputs(bench.built_spec(), timed, secret_seed());
    if (!inputs) {
      seen.problem = inputs.error().message;
      continue;
    }
    auto session = start();
    if (!session) return false;
    seen = profile_case(**session, *inputs, on_gpu);
    session->reset();
    if (!on_gpu) continue;
    session = start();
    if (session)
      seen.trace = trace_case(**session, *inputs);
    else
      seen.trace.problem = session.error().message;
  }
  return true;
}

// Everything there is to say of it. Nothing where the machine cannot start it.
std::optional<store::ProfileRecord> look_at(Workbench& bench, const Binary& binary, const Candidate* candidate,
                                            const std::optional<store::ProfileRecord>& known) {
  store::ProfileRecord record;
  record.object_hash = binary.object_hash;
  record.usage = binary.device_usage;
  const auto& gpu = bench.platform().gpu;
  if (!gpu) {
    // Making a case's inputs may take longer than the run: not for nothing.
    const std::string obstacle = runner::ProcessorCounters::obstacle();
    for (const Case& timed : bench.built_spec().cases)
      if (timed.timed && !obstacle.empty()) record.cases[timed.name].problem = obstacle;
    if (!obstacle.empty() || look_at_cases(bench, binary, record)) return record;
    return std::nullopt;
  }
  record.device = *gpu;
  // While the device runs the cases: compilers and disassemblers take seconds.
  auto code = std::async(std::launch::async, [&] {
    return known && !known->code.text.empty() ? known->code : code_of(bench, binary, candidate);
  });
  if (!look_at_cases(bench, binary, record)) return std::nullopt;
  record.code = code.get();
  return record;
}

}  // namespace

std::filesystem::path profile_of(const Workbench& bench, const std::string& candidate_hash) {
  return store::profile_file(bench.options().state_folder, bench.context().request.kernel, bench.context().architecture,
                             candidate_hash);
}

void profile(Workbench& bench, const Binary& binary, const std::string& candidate_hash, const Candidate* candidate) {
  const auto file = profile_of(bench, candidate_hash);
  const auto lacks_counters = [](const auto& entry) { return !entry.second.problem.empty(); };
  auto known = store::read_profile(file);
  if (known && known->object_hash != binary.object_hash) known.reset();  // the baseline was edited
  if (known && std::ranges::none_of(known->cases, lacks_counters)) return;
  if (const auto record = look_at(bench, binary, candidate, known)) store::write_profile(file, *record);
}

}  // namespace kagent::loop
