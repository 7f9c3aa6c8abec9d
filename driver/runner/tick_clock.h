// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "runner/protocol.h"

namespace kagent::runner {

// The counter that the driver and the runtime read, and its rate: calibrated here against the monotonic clock from the
// first use on, so that no candidate has a say in it.
class TickClock {
 public:
  static const TickClock& instance();

  protocol::TickSource source() const { return source_; }
  std::uint64_t now() const;
  // At most a year.
  std::chrono::nanoseconds duration(std::uint64_t ticks) const;

 private:
  struct Reading {
    std::uint64_t ticks = 0;
    std::chrono::steady_clock::time_point time;
  };
  TickClock();
  Reading read_both() const;
  double nanoseconds_per_tick() const;

  protocol::TickSource source_;
  Reading first_;
};

}  // namespace kagent::runner
