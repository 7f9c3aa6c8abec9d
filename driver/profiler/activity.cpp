// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace kagent::profiler {
namespace {

// A call of more different kernels than this says nothing by the rest of them.
constexpr std::size_t kMostLines = 8;
constexpr std::size_t kMostName = 80;

std::int64_t time_of(const TracedWork& work) {
  return work.end_ns - work.begin_ns;
}

bool is_same(const TracedWork& a, const TracedWork& b) {
  return a.kind == b.kind && a.name == b.name && a.grid == b.grid && a.block == b.block && a.cluster == b.cluster &&
         a.dynamic_shared_bytes == b.dynamic_shared_bytes;
}

// From the beginning of the first piece of work to the end of the last, and what of that any was going on.
struct Spans {
  std::int64_t whole_ns = 0, busy_ns = 0;
};

Spans spans_of(std::vector<TracedWork> work) {
  Spans spans;
  if (work.empty()) return spans;
  std::ranges::sort(work, {}, &TracedWork::begin_ns);
  std::int64_t end = work.front().begin_ns;
  for (const TracedWork& one : work) {
    if (one.end_ns > end) spans.busy_ns += one.end_ns - std::max(end, one.begin_ns);
    end = std::max(end, one.end_ns);
  }
  spans.whole_ns = end - work.front().begin_ns;
  return spans;
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

std::int64_t product(const std::array<std::int64_t, 3>& of) {
  return of[0] * of[1] * of[2];
}

std::string extents(const std::array<std::int64_t, 3>& of) {
  return fmt::format("{}x{}x{}", of[0], of[1], of[2]);
}

std::string line_of(const WorkShare& share, const std::optional<Device>& device) {
  const TracedWork& work = share.work;
  std::string line = fmt::format("{}: {:.0f} % of the time on the device, {:.4g} us", work.name.substr(0, kMostName),
                                 100 * share.share, static_cast<double>(share.time_ns) / 1e3);
  if (share.launches > 1) line += fmt::format(" in {} launches", share.launches);
  if (work.kind != WorkKind::kernel) return line;
  line += fmt::format("; grid {} of {} threads, {} registers", extents(work.grid), extents(work.block), work.registers);
  if (product(work.cluster) > 1) line += ", clusters of " + extents(work.cluster);
  if (const auto shared = work.static_shared_bytes + work.dynamic_shared_bytes; shared > 0)
    line += fmt::format(", {} bytes of shared memory", shared);
  if (work.local_bytes > 0) line += fmt::format(", {} bytes of local memory a thread", work.local_bytes);
  if (!device) return line;
  const Numbers fits =
      occupancy(*device, static_cast<int>(work.registers), work.static_shared_bytes, launch_shape(work));
  if (const auto found = fits.find("occupancy_pct"); found != fits.end())
    line += fmt::format(", {:.0f} % occupancy", found->second);
  if (const auto found = fits.find("waves"); found != fits.end()) line += fmt::format(", {:.3g} waves", found->second);
  return line;
}

}  // namespace

LaunchShape launch_shape(const TracedWork& work) {
  return {product(work.block), product(work.grid), work.dynamic_shared_bytes};
}

std::vector<WorkShare> shares_of(const KernelTrace& trace) {
  std::vector<WorkShare> shares;
  double all = 0;
  for (const TracedWork& work : trace.work) {
    auto found = std::ranges::find_if(shares, [&work](const WorkShare& share) { return is_same(share.work, work); });
    if (found == shares.end()) found = shares.insert(found, {work, 0, 0, 0});
    ++found->launches;
    found->time_ns += time_of(work);
    all += static_cast<double>(time_of(work));
  }
  for (WorkShare& share : shares) share.share = all > 0 ? static_cast<double>(share.time_ns) / all : 0;
  std::ranges::stable_sort(shares, std::ranges::greater{}, &WorkShare::time_ns);
  return shares;
}

std::optional<WorkShare> longest_kernel(const std::vector<WorkShare>& shares) {
  const auto found = std::ranges::find(shares, WorkKind::kernel, [](const WorkShare& one) { return one.work.kind; });
  return found == shares.end() ? std::nullopt : std::optional(*found);
}

Numbers numbers_of(const KernelTrace& trace, const std::vector<WorkShare>& shares) {
  Numbers numbers;
  if (trace.work.empty()) return numbers;
  const Spans spans = spans_of(trace.work);
  const auto whole = static_cast<double>(spans.whole_ns), busy = static_cast<double>(spans.busy_ns);
  std::int64_t kernels = 0, transfers_ns = 0;
  for (const WorkShare& share : shares) {
    if (share.work.kind == WorkKind::kernel)
      kernels += share.launches;
    else
      transfers_ns += share.time_ns;
  }
  numbers["kernels"] = static_cast<double>(kernels);
  numbers["busy_us"] = busy / 1e3;
  if (trace.work.size() > 1) numbers["idle_between_pct"] = percent(whole - busy, whole);
  if (transfers_ns > 0) numbers["transfers_pct"] = percent(static_cast<double>(transfers_ns), busy);
  if (const auto longest = longest_kernel(shares); longest && kernels > 1)
    numbers["longest_kernel_pct"] = 100 * longest->share;
  // Cross-check: work in a stream that the call's own does not wait for is in no time that anything is decided by.
  if (trace.event_ns > 0 && busy > trace.event_ns) {
    numbers["outside_events_us"] = (busy - trace.event_ns) / 1e3;
    numbers["outside_events_pct"] = percent(busy - trace.event_ns, busy);
  }
  return numbers;
}

std::vector<std::string> lines_of(const std::vector<WorkShare>& shares, const std::optional<Device>& device) {
  std::vector<std::string> lines;
  for (const WorkShare& share : shares) {
    if (lines.size() == kMostLines) {
      lines.push_back(fmt::format("and {} more", shares.size() - kMostLines));
      break;
    }
    lines.push_back(line_of(share, device));
  }
  return lines;
}

}  // namespace kagent::profiler
