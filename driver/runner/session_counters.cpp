// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include "runner/process_session.h"
#include "runner/processor_counters.h"
#include "util/text.h"

namespace kagent::runner {
namespace {

// Passes of all metrics, and loading the profiler: as bytes that are gone through, which have time of their own.
constexpr std::uint64_t kCountWork = std::uint64_t{64} << 30;
constexpr std::size_t kMostKernels = 1000;
// The kernel passes registers on every few milliseconds.
constexpr auto kCountedTime = std::chrono::milliseconds(50);
constexpr std::int64_t kMostCountedCalls = 100'000;

// Lines of "<kernel> <metric> <value>", from a process that may say anything.
Counters parse(std::string_view text) {
  Counters counters;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("! ")) {
      counters.problem = util::clean(line.substr(2), 300);
      continue;
    }
    std::istringstream words(line);
    std::size_t kernel = 0;
    std::string metric;
    double value = 0;
    if (!(words >> kernel >> metric >> value) || kernel >= kMostKernels) continue;
    if (counters.kernels.size() <= kernel) counters.kernels.resize(kernel + 1);
    counters.kernels[kernel][util::clean(metric, 200)] = value;
  }
  if (counters.kernels.empty() && counters.problem.empty()) counters.problem = "the counters could not be read";
  return counters;
}

}  // namespace

Result<Counters> Session::count(int, const std::vector<std::string>&) {
  Counters counters;
  counters.problem = "this runner reads no hardware counters";
  return counters;
}

// Over as many calls as fill a time in which counters that share registers had their turns.
Result<Counters> ProcessSession::count_from_outside(int slot, const std::vector<std::string>& metrics) {
  if (const auto target = find(slot); !target) return std::unexpected(target.error());
  Counters counters;
  // Before the first call, which may start the threads of a pool.
  const ProcessorCounters opened = ProcessorCounters::open(process_->pid(), metrics);
  auto first = sample({.slots = {slot}, .repetitions = 1, .cold = false});
  if (!first) return std::unexpected(first.error());
  counters.result = std::move(*first);
  if (counters.result.outcome != Outcome::ok) {
    counters.problem = counters.result.detail;
    return counters;
  }
  counters.problem = opened.problem();
  // The whole step's time: what surrounds a short call may take far longer than it.
  const auto once = std::max<std::chrono::nanoseconds>(counters.result.driver_time, std::chrono::nanoseconds(1));
  const auto calls = std::clamp<std::int64_t>(kCountedTime / once, 1, kMostCountedCalls);
  const auto before = opened.read();
  auto rest = take({.slots = {slot}, .repetitions = static_cast<int>(calls), .cold = false});
  const auto after = opened.read();
  if (!rest) return std::unexpected(rest.error());
  const protocol::Reply& reply = rest->reply;
  counters.result = std::move(rest->result);
  if (counters.result.outcome != Outcome::ok) {
    counters.problem = counters.result.detail;
    return counters;
  }
  if (reply.call_ticks < (reply.end_ticks - reply.begin_ticks) / 2) {
    counters.problem = "a call is so short that most of what is counted would be kagent's own work around it";
    return counters;
  }
  auto& values = counters.kernels.emplace_back();
  for (const auto& [name, value] : after)
    if (const auto start = before.find(name); start != before.end())
      values[name] = std::max(0.0, value - start->second) / static_cast<double>(calls);
  return counters;
}

Result<Counters> ProcessSession::count(int slot, const std::vector<std::string>& metrics) {
  if (kind_.is_counted) return count_from_outside(slot, metrics);
  if (!kind_.counts) return Session::count(slot, metrics);
  std::string names;
  for (const std::string& metric : metrics) names += metric + "\n";
  if (names.size() >= protocol::kMetricsBytes) return failure("too many metrics for one request");
  names += '\0';
  std::ranges::copy(std::as_bytes(std::span(names)), process_->area().begin());
  auto answer = look(slot, protocol::Operation::count, kCountWork);
  if (!answer) return std::unexpected(answer.error());
  Counters counters;
  if (answer->result.outcome == Outcome::ok)
    counters = parse(told());
  else
    counters.problem = answer->result.detail;
  counters.result = std::move(answer->result);
  return counters;
}

}  // namespace kagent::runner
