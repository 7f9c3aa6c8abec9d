// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "runner/protocol.h"
#include "runner/runtime/system.h"

namespace kagent::runner {

// Applies the system call filter that the driver handed over, if it handed one over, to the calling thread and to the
// threads that `flags` say. False where the kernel refuses. PR_SET_NO_NEW_PRIVS has been set by whoever applied the
// first filter.
inline bool apply_filter(protocol::StartBlock& start, unsigned long flags) {
  const auto pid = static_cast<std::uint32_t>(system_call(SYS_getpid));
  for (std::uint32_t i = 0; i < start.filter_length; ++i)
    if (start.filter[i].operand == protocol::kOwnPidPlaceholder) start.filter[i].operand = pid;
  sock_fprog program{};
  program.len = static_cast<unsigned short>(start.filter_length);
  program.filter = reinterpret_cast<sock_filter*>(start.filter);
  if (program.len == 0) return true;
  return system_call(SYS_seccomp, static_cast<long>(SECCOMP_SET_MODE_FILTER), static_cast<long>(flags),
                     reinterpret_cast<long>(&program)) == 0;
}

}  // namespace kagent::runner
