// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "util/descriptor.h"

namespace kagent::runner {

// Counters of the processor and of the kernel (perf_event_open) on another process, which knows nothing of them and
// needs no privilege. User code alone is counted, in every thread that the process starts from now on and in the one
// that it has. Counters that share the processor's few registers are scaled up to the whole time; pairs whose ratio is
// asked for are counted at the same times.
class ProcessorCounters {
 public:
  // The names that perf gives them: cycles, instructions, cache-references, ..., task-clock (ns), page-faults.
  static std::vector<std::string> names();
  // Why there would be no counters of the processor itself; empty if there would.
  static std::string obstacle();
  // Those of `wanted` that the system allows; problem() says why others are missing.
  static ProcessorCounters open(pid_t process, const std::vector<std::string>& wanted);

  // What was counted since open(). A counter that never had its turn is left out.
  std::map<std::string, double> read() const;
  // Why counters of the processor itself are missing, and what to do about it; empty if none is.
  const std::string& problem() const { return problem_; }

 private:
  struct Counter {
    std::string name;
    util::Descriptor descriptor;
  };
  std::vector<Counter> counters_;
  std::string problem_;
};

// What a failed perf_event_open means here: `error` is errno, `paranoid` the text of
// /proc/sys/kernel/perf_event_paranoid.
std::string counters_problem(int error, std::string_view paranoid);

// The value over the whole time, of a counter that had its turn for `running` of `enabled`; negative if it had none.
double scaled_count(std::uint64_t value, std::uint64_t enabled, std::uint64_t running);

}  // namespace kagent::runner
