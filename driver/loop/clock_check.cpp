// SPDX-License-Identifier: Apache-2.0
#include "loop/clock_check.h"

#include <cmath>

#include <fmt/core.h>

#include "judge/judge.h"

namespace kagent::loop {
namespace {

// Share of the gain that may be missing on the driver's clock before it counts as made up.
constexpr double kMissingShare = 0.5;
// Standard errors by which it must be missing: one honest candidate in 10,000 would be accused by chance.
constexpr double kCertain = 3.7;
// Clocks of one machine agree to about this.
constexpr double kClockSlack = 1.001;
constexpr std::chrono::microseconds kClockSlackTime{20};

// Standard error of a median, from the median absolute deviation (1.4826 turns it into a sigma, 1.2533 is the price of
// the median against the mean).
double median_error(const std::vector<double>& values, double center) {
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - center));
  return 1.2533 * 1.4826 * judge::median(std::move(deviations)) / std::sqrt(static_cast<double>(values.size()));
}

}  // namespace

std::optional<std::string> clock_disagreement(const std::vector<SampleTimes>& samples) {
  if (samples.empty()) return std::nullopt;
  std::vector<double> gains, missing;
  for (const SampleTimes& times : samples) {
    const auto child = static_cast<double>((times.incumbent_child - times.candidate_child).count());
    const auto driver = static_cast<double>((times.incumbent_driver - times.candidate_driver).count());
    gains.push_back(child);
    missing.push_back(child - driver);
  }
  const double gain = judge::median(gains), lost = judge::median(missing);
  if (gain <= 0 || lost - kCertain * median_error(missing, lost) <= kMissingShare * gain) return std::nullopt;
  return fmt::format(
      "the driver's clock disagrees: a sample is {:.1f} us shorter by the clock in the candidate's process, but only "
      "{:.1f} us by the driver's",
      gain / 1e3, (gain - lost) / 1e3);
}

bool is_impossible(const RunResult& step) {
  const std::chrono::duration<double, std::nano> child = step.child_time, driver = step.driver_time;
  return child < child.zero() || child > driver * kClockSlack + kClockSlackTime;
}

}  // namespace kagent::loop
