// SPDX-License-Identifier: Apache-2.0
#include "runner/processor_counters.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/files.h"
#include "util/text.h"

namespace kagent::runner {
namespace {

struct Event {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
  const char* partner;  // whose ratio with this one matters, and that comes before it; null: none
};

// Of a cache: which, what for, and whether it missed.
constexpr std::uint64_t cache(std::uint64_t which, std::uint64_t operation, std::uint64_t result) {
  return which | operation << 8 | result << 16;
}

constexpr std::array kEvents{
    Event{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, nullptr},
    Event{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "cycles"},
    Event{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, nullptr},
    Event{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "cache-references"},
    Event{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, nullptr},
    Event{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "branches"},
    Event{"dTLB-loads", PERF_TYPE_HW_CACHE,
          cache(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS), nullptr},
    Event{"dTLB-load-misses", PERF_TYPE_HW_CACHE,
          cache(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS), "dTLB-loads"},
    Event{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, nullptr},
    Event{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, nullptr},
};

util::Descriptor open_event(const Event& event, pid_t process, int leader) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.exclude_kernel = 1;  // all that perf_event_paranoid = 2 allows, and what the candidate's code is
  attributes.exclude_hv = 1;
  attributes.inherit = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return util::Descriptor(
      static_cast<int>(::syscall(SYS_perf_event_open, &attributes, process, -1, leader, PERF_FLAG_FD_CLOEXEC)));
}

}  // namespace

std::vector<std::string> ProcessorCounters::names() {
  std::vector<std::string> names;
  for (const Event& event : kEvents) names.emplace_back(event.name);
  return names;
}

std::string ProcessorCounters::obstacle() {
  return open(::getpid(), {"instructions"}).problem();
}

ProcessorCounters ProcessorCounters::open(pid_t process, const std::vector<std::string>& wanted) {
  ProcessorCounters counters;
  for (const Event& event : kEvents) {
    if (std::ranges::find(wanted, event.name) == wanted.end()) continue;
    const auto partner = std::ranges::find_if(counters.counters_, [&event](const Counter& counter) {
      return event.partner != nullptr && counter.name == event.partner;
    });
    const int leader = partner == counters.counters_.end() ? -1 : partner->descriptor.get();
    util::Descriptor descriptor = open_event(event, process, leader);
    const int error = errno;
    if (descriptor) {
      counters.counters_.push_back({event.name, std::move(descriptor)});
    } else if (counters.problem_.empty() && (event.type != PERF_TYPE_HW_CACHE || error == EACCES || error == EPERM)) {
      // A processor may lack one counter or another of its caches: that is nothing to speak of.
      counters.problem_ =
          counters_problem(error, util::read_file("/proc/sys/kernel/perf_event_paranoid").value_or(std::string()));
    }
  }
  return counters;
}

std::map<std::string, double> ProcessorCounters::read() const {
  std::map<std::string, double> values;
  for (const Counter& counter : counters_) {
    struct {
      std::uint64_t value, enabled, running;
    } count{};
    if (::read(counter.descriptor.get(), &count, sizeof count) != sizeof count) continue;
    if (const double value = scaled_count(count.value, count.enabled, count.running); value >= 0)
      values[counter.name] = value;
  }
  return values;
}

double scaled_count(std::uint64_t value, std::uint64_t enabled, std::uint64_t running) {
  if (running == 0) return enabled == 0 ? 0 : -1;
  return static_cast<double>(value) * (static_cast<double>(enabled) / static_cast<double>(running));
}

std::string counters_problem(int error, std::string_view paranoid) {
  int level = 0;
  const bool known = std::sscanf(std::string(paranoid).c_str(), "%d", &level) == 1;
  switch (error) {
    case EACCES:
    case EPERM:
      if (known && level > 2)
        return fmt::format(
            "this system forbids counters: perf_event_paranoid is {}; 2 or less allows them (sysctl "
            "kernel.perf_event_paranoid=2)",
            level);
      return "this system forbids counters: perf_event_open is refused, as in most containers (run the container with "
             "CAP_PERFMON, or outside of one)";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return "the processor shows no counters here, as in most virtual machines";
    case ENOSYS:
      return "this kernel was built without perf_event_open";
    default:
      return fmt::format("counters cannot be opened: {}", util::clean(std::strerror(error)));
  }
}

}  // namespace kagent::runner
