// SPDX-License-Identifier: Apache-2.0
#include "runner/trace_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>

#include "util/text.h"

namespace kagent::runner {
namespace {

constexpr std::size_t kMostWork = 1000;
constexpr std::size_t kMostName = 200;
// An hour: no step lasts so long.
constexpr std::int64_t kLastNs = 3'600'000'000'000;

// What any launch has: so that products of extents, and sums of bytes, stay numbers.
constexpr std::int64_t kMostExtent = (std::int64_t{1} << 31) - 1, kMostBlocksAcross = 65535, kMostRegisters = 65535;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;

bool is_up_to(std::int64_t value, std::int64_t most) {
  return value >= 0 && value <= most;
}

bool is_possible(const TracedWork& work) {
  const auto are_extents = [](const std::array<std::int64_t, 3>& of) {
    return is_up_to(of[0], kMostExtent) && is_up_to(of[1], kMostBlocksAcross) && is_up_to(of[2], kMostBlocksAcross);
  };
  return is_up_to(work.begin_ns, work.end_ns) && is_up_to(work.end_ns, kLastNs) && are_extents(work.grid) &&
         are_extents(work.block) && are_extents(work.cluster) && is_up_to(work.registers, kMostRegisters) &&
         is_up_to(work.static_shared_bytes, kMostBytes) && is_up_to(work.dynamic_shared_bytes, kMostBytes) &&
         is_up_to(work.local_bytes, kMostBytes);
}

std::optional<TracedWork> parse_work(const std::string& line) {
  std::istringstream words(line);
  TracedWork work;
  int kind = 0;
  words >> kind >> work.begin_ns >> work.end_ns;
  for (auto* extents : {&work.grid, &work.block, &work.cluster})
    for (std::int64_t& extent : *extents) words >> extent;
  words >> work.registers >> work.static_shared_bytes >> work.dynamic_shared_bytes >> work.local_bytes >> std::ws;
  std::string name;
  if (!std::getline(words, name) || kind < 0 || kind > static_cast<int>(WorkKind::fill) || !is_possible(work))
    return std::nullopt;
  work.kind = static_cast<WorkKind>(kind);
  work.name = util::clean(name, kMostName);
  return work;
}

}  // namespace

KernelTrace parse_trace(std::string_view text) {
  KernelTrace trace;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("! ")) {
      trace.problem = util::clean(line.substr(2), 300);
    } else if (line.starts_with("= ")) {
      std::istringstream(line.substr(2)) >> trace.event_ns;
    } else if (trace.work.size() < kMostWork) {
      if (auto work = parse_work(line)) trace.work.push_back(std::move(*work));
    }
  }
  if (!std::isfinite(trace.event_ns) || trace.event_ns < 0) trace.event_ns = 0;
  std::ranges::stable_sort(trace.work, {}, &TracedWork::begin_ns);
  if (!trace.problem.empty()) trace.work.clear();
  if (trace.work.empty() && trace.problem.empty()) trace.problem = "the trace could not be read";
  return trace;
}

}  // namespace kagent::runner
