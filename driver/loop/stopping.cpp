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

// A proposer that writes code and fails so often costs more than it finds.
constexpr std::size_t kFallbackWindow = 20;
constexpr double kFallbackShare = 0.2;

std::string roofline_distance(const std::optional<double>& share) {
  if (!share)
    return "how far the roofline is, is not known: the spec counts no work, the data stays in a cache, or nothing "
           "was measured as the build compiles it";
  return fmt::format("{:.0f} % of the roofline", *share * 100);
}

std::int64_t tokens(const Usage& usage) {
  return usage.input_tokens + usage.output_tokens;
}

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

bool time_is_used(const StoppingRule& rule, const RunState& state) {
  return state.elapsed.count() >= static_cast<double>(rule.time_budget.count()) * (1 - rule.judging_share);
}

std::optional<std::string> reason_to_stop(const StoppingRule& rule, const RunState& state) {
  if (state.space_exhausted)
    return state.has_space ? "every point of the space was tried"
                           : "the spec has no tunables to search, and nobody else proposes anything";
  if (rule.goal_roofline && state.roofline_share && *state.roofline_share >= *rule.goal_roofline)
    return fmt::format("the goal is reached: {:.0f} % of the roofline", *state.roofline_share * 100);
  if (rule.goal_speedup && 1 / state.accepted_ratio >= *rule.goal_speedup)
    return fmt::format("the goal is reached: {:.2f}x over the baseline", 1 / state.accepted_ratio);
  if (state.rounds_done >= rule.rounds) return fmt::format("all {} rounds are used", rule.rounds);
  if (time_is_used(rule, state)) return fmt::format("the time budget of {} s is used", rule.time_budget.count());
  if (rule.tokens && tokens(state.usage) >= *rule.tokens)
    return fmt::format("the budget of {} tokens is used", *rule.tokens);
  if (rule.money && state.usage.cost >= *rule.money)
    return fmt::format("the budget of {:g} for models is used", *rule.money);
  if (!state.spent.empty()) return state.spent;
  if (is_failing(state.failed)) return fmt::format("nearly all of the last {} candidates failed", kFailureWindow);
  if (is_quiet(state.best_after_round))
    return fmt::format("{} rounds without a gain of 0.5 %: a person should look ({})", kQuietRounds,
                       roofline_distance(state.roofline_share));
  return std::nullopt;
}

std::optional<std::string> reason_to_fall_back(const RunState& state) {
  const std::vector<bool>& failed = state.written_failed;
  if (failed.size() < kFallbackWindow) return std::nullopt;
  const auto count = std::count(failed.end() - kFallbackWindow, failed.end(), true);
  if (static_cast<double>(count) <= kFallbackShare * kFallbackWindow) return std::nullopt;
  return fmt::format("{} of its last {} candidates failed", count, kFallbackWindow);
}

}  // namespace kagent::loop
