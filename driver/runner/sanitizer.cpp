// SPDX-License-Identifier: Apache-2.0
#include "runner/sanitizer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "runner/device_process.h"
#include "runner/process_session.h"
#include "util/subprocess.h"
#include "util/text.h"

namespace kagent::runner {

namespace fs = std::filesystem;

namespace {

using Verdict = SanitizerResult::Verdict;

constexpr std::array kPlaces{"/usr/local/cuda/bin/compute-sanitizer",
                             "/usr/local/cuda/compute-sanitizer/compute-sanitizer",
                             "/opt/cuda/extras/compute-sanitizer/compute-sanitizer"};
// After the call the tool writes its summary.
constexpr auto kSummaryTime = std::chrono::seconds(20);
constexpr std::string_view kSummary = "ERROR SUMMARY: ";
constexpr std::string_view kRaceSummary = "RACECHECK SUMMARY: ";

// The number of errors in the last summary line; nothing if the tool did not get that far. racecheck's is "2 hazards
// displayed (1 error, 1 warning)": its warnings are what may be meant so, as between the threads of a warp.
std::optional<int> error_count(const std::string& printed) {
  for (const std::string_view summary : {kSummary, kRaceSummary}) {
    const std::size_t at = printed.rfind(summary);
    if (at == std::string::npos) continue;
    const std::size_t line_end = std::min(printed.find('\n', at), printed.size());
    std::size_t begin = at + summary.size();
    if (const std::size_t part = printed.find('(', begin); summary == kRaceSummary && part < line_end) begin = part + 1;
    int count = 0;
    if (std::from_chars(printed.data() + begin, printed.data() + line_end, count).ec == std::errc{}) return count;
  }
  return {};
}

// The tool's own lines, without the rule that they begin with: "Invalid __global__ write of size 4 bytes".
std::vector<std::string> reports(const std::string& printed) {
  std::vector<std::string> lines;
  std::size_t start = 0;
  while (start < printed.size()) {
    const std::size_t end = std::min(printed.find('\n', start), printed.size());
    std::string line = printed.substr(start, end - start);
    start = end + 1;
    if (!line.starts_with("=========")) continue;
    line.erase(0, line.find_first_not_of("= "));
    if (line.empty() || line.starts_with("COMPUTE-SANITIZER") || line.find("SUMMARY") != std::string::npos) continue;
    lines.push_back(std::move(line));
  }
  return lines;
}

// What the first error is, and where: "Invalid __global__ write of size 4 bytes, at scale(float *)+0x70 in k.cu:12".
std::string first_report(const std::string& printed) {
  const auto lines = reports(printed);
  const auto is_error = [](const std::string& line) { return !line.starts_with("Warning"); };
  const auto what = std::ranges::find_if(lines, is_error);
  if (what == lines.end()) return lines.empty() ? std::string() : util::clean(lines.front(), 300);
  const auto where = what + 1;
  const bool told = where != lines.end() && where->starts_with("at ");
  return util::clean(*what + (told ? ", " + *where : ""), 300);
}

SanitizerResult unfinished(SanitizerTool tool, std::string why) {
  return {tool, Verdict::unfinished, 0, std::move(why)};
}

// The tool itself, which finds its libraries beside it: /usr/local/cuda is a link, and bin/ of a toolkit has a link or
// a script in the tool's place.
fs::path program_behind(const fs::path& found) {
  std::error_code error;
  fs::path real = fs::canonical(found, error);
  if (error) return found;
  const fs::path toolkit = real.parent_path().parent_path();
  if (real.parent_path().filename() != "bin") return real;
  for (const char* place : {"compute-sanitizer/compute-sanitizer", "extras/compute-sanitizer/compute-sanitizer"})
    if (fs::is_regular_file(toolkit / place, error)) return fs::canonical(toolkit / place, error);
  return real;
}

// One call; the process is left to the caller, who lets it end.
Result<RunResult> one_call(ProcessSession& session, const CallInputs& inputs) {
  auto step = session.prepare(0, inputs, {});
  if (step && step->outcome == Outcome::ok) step = session.call(0);
  if (step && step->outcome == Outcome::ok) step = session.release(0);
  return step;
}

SanitizerResult run_tool(SanitizerTool tool, const DeviceProcesses& processes, const Binary& binary,
                         const std::vector<Parameter>& parameters, const CallInputs& inputs,
                         const CudaRunnerOptions& runner, const SanitizerOptions& options) {
  RunnerLimits limits;
  limits.start = limits.step = options.limit;
  limits.allow_unsandboxed = options.allow_unsandboxed;
  const bool kernel = !binary.cubin.empty();
  const fs::path sanitizer = program_behind(options.sanitizer);
  const std::vector<std::string> words{sanitizer.string(), "--tool", std::string(name(tool)), "--target-processes",
                                       "all"};
  auto started = processes.start_under(words, {sanitizer.parent_path()},
                                       kernel ? runner.kernel_runner : binary.executable, limits);
  if (!started) return unfinished(tool, started.error().message);

  std::optional<util::Finished> finished;
  SessionKind kind;
  kind.blocks = kDeviceBlocks;
  if (kernel) {
    const auto loaded = load_module(started->process, binary, parameters);
    if (!loaded || loaded->outcome != Outcome::ok)
      return unfinished(tool, loaded ? loaded->detail : loaded.error().message);
    kind.launch = binary.launch;
    kind.tunables = binary.tunables;
  }
  kind.give_back = [&finished](RunnerProcess process) { finished = process.dismiss(kSummaryTime); };
  kind.gives_back_ended = true;
  Result<RunResult> step;
  {
    ProcessSession session(std::move(started->process), parameters, started->sentinel_seed, std::move(kind));
    step = one_call(session, inputs);
  }
  if (!step) return unfinished(tool, step.error().message);
  const std::string printed = finished ? finished->standard_output + finished->standard_error : std::string();
  const auto count = error_count(printed);
  if (count && *count > 0) return {tool, Verdict::errors, *count, first_report(printed)};
  if (step->outcome != Outcome::ok)
    return unfinished(tool, fmt::format("{}: {}", kagent::name(step->outcome), step->detail));
  if (!finished) return unfinished(tool, "the tool did not end");
  if (!count)
    return unfinished(
        tool, fmt::format("the tool gave no summary and ended with {}: {}", finished->code, first_report(printed)));
  return {tool, Verdict::clean, 0, {}};
}

}  // namespace

std::string_view name(SanitizerTool tool) {
  switch (tool) {
    case SanitizerTool::memcheck:
      return "memcheck";
    case SanitizerTool::racecheck:
      return "racecheck";
    case SanitizerTool::initcheck:
      return "initcheck";
    case SanitizerTool::synccheck:
      return "synccheck";
  }
  return "memcheck";
}

std::filesystem::path find_sanitizer() {
  const char* const path = std::getenv("PATH");
  if (auto found = util::find_program("compute-sanitizer", path != nullptr ? path : ""); !found.empty()) return found;
  std::error_code error;
  for (const char* place : kPlaces)
    if (std::filesystem::is_regular_file(place, error)) return place;
  return {};
}

std::vector<SanitizerResult> sanitize(const Binary& binary, const std::vector<Parameter>& parameters,
                                      const CallInputs& inputs, const std::vector<SanitizerTool>& tools,
                                      const CudaRunnerOptions& runner, const SanitizerOptions& options) {
  const DeviceProcesses processes(runner);
  std::vector<SanitizerResult> results;
  for (const SanitizerTool tool : tools)
    results.push_back(options.sanitizer.empty()
                          ? unfinished(tool, "compute-sanitizer is not installed")
                          : run_tool(tool, processes, binary, parameters, inputs, runner, options));
  return results;
}

}  // namespace kagent::runner
