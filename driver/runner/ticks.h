// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runner/protocol.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace kagent::runner {

// Linux' CLOCK_MONOTONIC by the system call itself where there is no counter, in nanoseconds. Defined by either side,
// because the runtime must not call functions that a candidate could define.
std::uint64_t monotonic_ticks();

// A counter that every process of the machine reads alike and that no candidate can interpose: the driver puts the
// times that a runner claims between its own.
inline std::uint64_t ticks([[maybe_unused]] protocol::TickSource source) {
#if defined(__x86_64__)
  if (source == protocol::TickSource::time_stamp_counter) {
    // Intel SDM, RDTSC: LFENCE before waits for earlier instructions, after keeps later ones from starting. Not by
    // <x86intrin.h>: that of GCC 13 does not compile in a freestanding program.
    __builtin_ia32_lfence();
    const std::uint64_t now = __builtin_ia32_rdtsc();
    __builtin_ia32_lfence();
    return now;
  }
#elif defined(__aarch64__)
  if (source == protocol::TickSource::time_stamp_counter) {
    std::uint64_t now;
    asm volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(now)::"memory");
    return now;
  }
#endif
  return monotonic_ticks();
}

}  // namespace kagent::runner
