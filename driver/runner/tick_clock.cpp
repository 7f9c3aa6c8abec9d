// SPDX-License-Identifier: Apache-2.0
#include "runner/tick_clock.h"

#include <cmath>
#include <ctime>
#include <fstream>
#include <string>

#include "runner/ticks.h"

namespace kagent::runner {

using protocol::TickSource;
using namespace std::chrono_literals;

namespace {

// Reading both clocks is off by some 100 ns at worst: over this time that is a rate exact to 1e-5.
constexpr auto kShortestCalibration = 20ms;

// The kernel takes "tsc" off this list when it finds the counters of the processors apart.
[[maybe_unused]] bool kernel_trusts_counter() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/available_clocksource");
  for (std::string name; file >> name;)
    if (name == "tsc") return true;
  return false;
}

TickSource find_source() {
#if defined(__x86_64__)
  // Intel SDM, CPUID leaf 80000007H, EDX bit 8: the counter runs at a constant rate in every state of the processor.
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool constant = __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
  return constant && kernel_trusts_counter() ? TickSource::time_stamp_counter : TickSource::monotonic_clock;
#elif defined(__aarch64__)
  return TickSource::time_stamp_counter;
#else
  return TickSource::monotonic_clock;
#endif
}

}  // namespace

std::uint64_t monotonic_ticks() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

TickClock::TickClock() : source_(find_source()), first_(read_both()) {}

const TickClock& TickClock::instance() {
  static const TickClock clock;
  return clock;
}

std::uint64_t TickClock::now() const {
  return ticks(source_);
}

// The closest of a few, since the process may be interrupted between the two clocks.
TickClock::Reading TickClock::read_both() const {
  Reading best;
  std::uint64_t best_width = ~std::uint64_t{0};
  for (int attempt = 0; attempt < 8; ++attempt) {
    const std::uint64_t before = now();
    const auto time = std::chrono::steady_clock::now();
    const std::uint64_t width = now() - before;
    if (width >= best_width) continue;
    best_width = width;
    best = {before + width / 2, time};
  }
  return best;
}

double TickClock::nanoseconds_per_tick() const {
  if (source_ == TickSource::monotonic_clock) return 1;
  while (std::chrono::steady_clock::now() - first_.time < kShortestCalibration) {
  }
  const Reading last = read_both();
  return static_cast<double>((last.time - first_.time).count()) / static_cast<double>(last.ticks - first_.ticks);
}

std::chrono::nanoseconds TickClock::duration(std::uint64_t ticks) const {
  // A candidate may claim any number of ticks.
  constexpr auto kLongest = std::chrono::nanoseconds(std::chrono::hours(24 * 365));
  const double nanoseconds = static_cast<double>(ticks) * nanoseconds_per_tick();
  if (nanoseconds > static_cast<double>(kLongest.count())) return kLongest;
  return std::chrono::nanoseconds(std::llround(nanoseconds));
}

}  // namespace kagent::runner
