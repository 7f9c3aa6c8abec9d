// SPDX-License-Identifier: Apache-2.0
#include "loop/experience.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "util/text.h"

namespace kagent::loop {
namespace {

// Faster than racing can be wrong about.
constexpr double kFaster = 0.99;
// A call is skipped when fewer than one in so many is expected to bring anything: with nothing but failures on record,
// after about as many of them.
constexpr double kWastedChance = 1.0 / 20;
// A lesson of another kernel counts so much of an own one.
constexpr double kForeignWeight = 0.5;

bool is_about_speed(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
    case Outcome::slower:
    case Outcome::same:
    case Outcome::ambiguous:
    case Outcome::wrong_result:
    case Outcome::unstable:
    case Outcome::limits_exceeded:
      return true;
    default:
      return false;
  }
}

bool succeeded(const Lesson& lesson) {
  return lesson.outcome == Outcome::ok && lesson.effect < kFaster;
}

double relevance(const Lesson& lesson, const std::string& architecture, const std::vector<std::string>& features,
                 const std::string& pattern) {
  double shared = 0;
  for (const std::string& feature : lesson.features)
    if (std::ranges::find(features, feature) != features.end()) shared += 1;
  const double all = static_cast<double>(std::max<std::size_t>({features.size(), lesson.features.size(), 1}));
  return (lesson.architecture == architecture ? 2 : 0) + (lesson.pattern == pattern ? 2 : 0) + shared / all;
}

std::string origin_of(const Trial& trial) {
  return trial.kernel + " " + trial.candidate_hash.substr(0, 12);
}

}  // namespace

std::string pattern_of(const std::vector<Bottleneck>& bottlenecks) {
  const Pattern* costliest = nullptr;
  const Bottleneck* slowest = nullptr;
  for (const Bottleneck& one : bottlenecks) {
    for (const Pattern& pattern : one.patterns)
      if (!costliest || pattern.severity > costliest->severity) costliest = &pattern;
    if (!slowest || one.time_ns > slowest->time_ns) slowest = &one;
  }
  if (costliest) return costliest->name;
  if (slowest && !slowest->limited_by.empty() && slowest->limited_by != "not known") return slowest->limited_by;
  return kUnknownPattern;
}

std::optional<Lesson> lesson_of(const Trial& trial, double parent_ratio, const std::string& pattern,
                                const std::vector<std::string>& features) {
  const Candidate& candidate = trial.candidate;
  if (candidate.change.empty() || !is_about_speed(trial.outcome)) return std::nullopt;
  Lesson lesson;
  lesson.pattern = pattern;
  lesson.change = util::clean(candidate.change, 300);
  lesson.outcome = trial.outcome;
  if (trial.score && parent_ratio > 0) lesson.effect = *trial.score / parent_ratio;
  lesson.architecture = trial.architecture;
  lesson.features = features;
  lesson.from = origin_of(trial);
  return lesson;
}

std::vector<Lesson> relevant_lessons(const std::vector<Lesson>& all, const std::string& architecture,
                                     const std::vector<std::string>& features, const std::string& pattern,
                                     const std::vector<Trial>& history, std::size_t most) {
  std::set<std::string> known;
  for (const Trial& trial : history) known.insert(origin_of(trial));
  std::vector<Lesson> chosen;
  for (const Lesson& lesson : all)
    if (!known.contains(lesson.from)) chosen.push_back(lesson);
  std::ranges::stable_sort(chosen, [&](const Lesson& a, const Lesson& b) {
    return relevance(a, architecture, features, pattern) > relevance(b, architecture, features, pattern);
  });
  if (chosen.size() > most) chosen.resize(most);
  return chosen;
}

Forecast forecast(const std::vector<bool>& own, const std::vector<Lesson>& lessons, const std::string& pattern) {
  double successes = 0, failures = 0;
  for (const bool faster : own) (faster ? successes : failures) += 1;
  for (const Lesson& lesson : lessons)
    if (lesson.pattern == pattern && pattern != kUnknownPattern)
      (succeeded(lesson) ? successes : failures) += kForeignWeight;
  Forecast result;
  result.chance = (successes + 1) / (successes + failures + 2);
  result.answers = static_cast<int>(successes + failures);
  result.wasted = result.chance < kWastedChance;
  result.text = fmt::format("{:.0f} of {:.0f} earlier changes against '{}' made anything faster", successes,
                            successes + failures, pattern);
  return result;
}

}  // namespace kagent::loop
