// SPDX-License-Identifier: Apache-2.0
#include "loop/stopping.h"

#include <algorithm>

#include <fmt/core.h>

namespace kagent::loop {
namespace {

// Three rounds in which the best moved by less than 0.5 % in all: what is left is for a person to find.
constexpr std::size_t kQuietRounds = 3;
constexpr double kQuietGain = 0.005;
// A window of trials in which nearly all fail: the space or the source is broken, not unlucky.
constexpr std::size_t kFailureWindow = 24;
constexpr double kFailureShare = 0.95;

bool is_quiet(const std::vector<double>& best) {
  if (best.size() <= kQuietRounds) return false;
  const double before = best[best.size() - 1 - kQuietRounds];
  return best.back() > before * (1 - kQuietGain);
}

bool is_failing(const std::vector<bool>& failed) {
  if (failed.size() < kFailureWindow) return false;
  const auto count = std::count(failed.end() - kFailureWindow, failed.end(), true);
  return static_cast<double>(count) >= kFailureShare * kFailureWindow;
}

}  // namespace

std::optional<std::string> reason_to_stop(const StoppingRule& rule, const RunState& state) {
  if (state.space_exhausted) return "every point of the space was tried";
  if (rule.goal_roofline && state.roofline_share && *state.roofline_share >= *rule.goal_roofline)
    return fmt::format("the goal is reached: {:.0f} % of the roofline", *state.roofline_share * 100);
  if (state.rounds_done >= rule.rounds) return fmt::format("all {} rounds are used", rule.rounds);
  if (state.elapsed.count() >= static_cast<double>(rule.time_budget.count()) * (1 - rule.judging_share))
    return fmt::format("the time budget of {} s is used", rule.time_budget.count());
  if (is_failing(state.failed)) return fmt::format("nearly all of the last {} candidates failed", kFailureWindow);
  if (is_quiet(state.best_after_round))
    return fmt::format("{} rounds without a gain of 0.5 %: a person should look", kQuietRounds);
  return std::nullopt;
}

}  // namespace kagent::loop
