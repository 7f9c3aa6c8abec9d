// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "values/phase_times.h"

namespace kagent::loop {

// The wall time that a run may use. The clock starts with the object, after what earlier steps of the run used.
class Budget {
 public:
  explicit Budget(std::chrono::seconds time, std::chrono::duration<double> used_before = {})
      : time_(time), used_before_(used_before) {}

  std::chrono::duration<double> elapsed() const { return used_before_ + (Clock::now() - started_); }
  // Negative once it is used up.
  std::chrono::milliseconds left() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time_ - elapsed());
  }
  // Where it went; every part of the run adds its own.
  PhaseTimes& times() { return times_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::seconds time_;
  std::chrono::duration<double> used_before_;
  Clock::time_point started_ = Clock::now();
  PhaseTimes times_;
};

}  // namespace kagent::loop
