// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace kagent::runner {

// Tells what keeps happening from what happens now and then. Once proves nothing: on a virtual machine, time that the
// host took away counts as used, and on a busy one any answer may be late.
class Recurrence {
 public:
  // Of the last 32 occasions, at least this many, and at least half of those that there were.
  static constexpr int kLeast = 4;

  // Notes one more occasion; true once it keeps happening.
  bool note(bool happened) {
    history_ = history_ << 1 | static_cast<std::uint32_t>(happened);
    occasions_ = std::min(occasions_ + 1, 32);
    const int times = std::popcount(history_);
    return times >= kLeast && 2 * times >= occasions_;
  }

 private:
  std::uint32_t history_ = 0;  // a bit for each occasion
  int occasions_ = 0;
};

}  // namespace kagent::runner
