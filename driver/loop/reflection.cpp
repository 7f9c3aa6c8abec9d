// SPDX-License-Identifier: Apache-2.0
#include "loop/reflection.h"

#include <cmath>

#include <fmt/core.h>

namespace kagent::loop {
namespace {

// Racing tells times apart by about a percent; a prediction within a few is a good one.
constexpr double kNoEffect = 0.01;
constexpr double kAsExpected = 0.05;

std::string verdict(double expected, double measured) {
  const double got = std::log(measured), wanted = std::log(expected);
  if (std::abs(got - wanted) <= kAsExpected) return "as expected";
  if (std::abs(got) <= kNoEffect) return "no effect: the hypothesis does not hold";
  if (got * wanted < 0) return "the opposite of what was expected: the hypothesis is wrong";
  return got < wanted ? "less than expected" : "more than expected";
}

}  // namespace

std::string reflect(const Trial& trial, double parent_ratio) {
  const std::optional<double>& expected = trial.candidate.expected_speedup;
  const bool writes_code = expected || !trial.candidate.change.empty() || !trial.candidate.parent.empty();
  if (!writes_code) return {};
  const std::string hope = expected ? fmt::format("expected {:.2f}x over its parent, ", *expected) : "";
  if (!trial.score) return hope + fmt::format("ended as {}", name(trial.outcome));
  if (!(*trial.score > 0) || !(parent_ratio > 0)) return hope + "not measured";
  const double measured = parent_ratio / *trial.score;
  std::string text =
      hope + fmt::format("measured {:.2f}x over its parent, {:.2f}x over the baseline", measured, 1 / *trial.score);
  if (expected && *expected > 0) text += ": " + verdict(*expected, measured);
  return text;
}

}  // namespace kagent::loop
