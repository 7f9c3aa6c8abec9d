// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace kagent::loop {

// The wall time that a run may use. The clock starts with the object.
class Budget {
 public:
  explicit Budget(std::chrono::seconds time) : time_(time) {}

  std::chrono::duration<double> elapsed() const { return Clock::now() - started_; }
  // Negative once it is used up.
  std::chrono::milliseconds left() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(started_ + time_ - Clock::now());
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::seconds time_;
  Clock::time_point started_ = Clock::now();
};

}  // namespace kagent::loop
