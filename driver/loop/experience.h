// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "values/bottleneck.h"
#include "values/brief.h"
#include "values/trial.h"

namespace kagent::loop {

inline constexpr const char* kUnknownPattern = "unknown";

// What the profile says first, as lessons are filed under: the costliest pattern, else what limits the slowest case;
// kUnknownPattern where it says nothing.
std::string pattern_of(const std::vector<Bottleneck>& bottlenecks);

// What a finished trial of a proposer that writes code taught; nothing for one that only tried numbers, or that failed
// before it could teach anything about speed (an answer that does not compile says nothing about its idea).
std::optional<Lesson> lesson_of(const Trial& trial, double parent_ratio, const std::string& pattern,
                                const std::vector<std::string>& features);

// Those that fit best, successes and failures: of this architecture before others, with the pattern, with the same
// features; newer ones first among equals. At most `most`. What is in the history, which holds for the kernel as it is
// now, is left out.
std::vector<Lesson> relevant_lessons(const std::vector<Lesson>& all, const std::string& architecture,
                                     const std::vector<std::string>& features, const std::string& pattern,
                                     const std::vector<Trial>& history, std::size_t most);

// How likely another answer is to bring something faster, from what became of the earlier ones.
struct Forecast {
  double chance = 0.5;  // mean of the posterior, from a flat prior (Laplace's rule of succession)
  int answers = 0;      // that it was made from
  bool wasted = false;  // very likely: the call is not worth making
  std::string text;     // why, for people
};
// `own`: in this run, in order, whether each candidate was faster than its parent. `lessons`: relevant ones of other
// kernels and earlier runs; they count against the same pattern, if it is known.
Forecast forecast(const std::vector<bool>& own, const std::vector<Lesson>& lessons, const std::string& pattern);

}  // namespace kagent::loop
