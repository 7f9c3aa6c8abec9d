// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace kagent::loop {

// Adds the time from its making to its end to `total`.
class Stopwatch {
 public:
  explicit Stopwatch(std::chrono::duration<double>& total) : total_(total) {}
  ~Stopwatch() { total_ += Clock::now() - started_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::duration<double>& total_;
  Clock::time_point started_ = Clock::now();
};

}  // namespace kagent::loop
