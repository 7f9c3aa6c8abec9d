// SPDX-License-Identifier: Apache-2.0
#include "loop/archive.h"

#include <algorithm>
#include <cmath>

#include "loop/numeric.h"
#include "proposer/random.h"

namespace kagent::loop {
namespace {

// A source twice as long has to be 1.5 % faster to be as good a parent; the whole margin of error is worth 1 %. Both
// decide between sources that racing can hardly tell apart.
constexpr double kComplexityWeight = 0.02;
constexpr double kMarginWeight = 0.01;
// Among parents, being wholly unlike the others is worth as much as being 1.5 times as fast.
constexpr double kDiversityWeight = 0.4;
constexpr std::size_t kTournament = 2;
constexpr double kCrossoverShare = 0.5;

double validity_of(const Trial& trial) {
  if (trial.score) return 1;
  switch (trial.outcome) {
    case Outcome::ok:
    case Outcome::duplicate:
    case Outcome::slower:
    case Outcome::same:
    case Outcome::ambiguous:
      return 1;
    case Outcome::gate_rejected:
    case Outcome::policy_violation:
      return 0;
    case Outcome::compile_failed:
      return 0.1;
    case Outcome::limits_exceeded:
    case Outcome::launch_failed:
      return 0.2;
    case Outcome::timed_out:
    case Outcome::crashed:
    case Outcome::illegal_access:
    case Outcome::misaligned_access:
    case Outcome::device_fault:
    case Outcome::memory_exceeded:
    case Outcome::output_exceeded:
      return 0.3;
    case Outcome::wrong_result:
    case Outcome::unstable:
    case Outcome::sanitizer_error:
      return 0.5;
  }
  return 0;
}

// Judging found it slower than racing did, or not the same under another seed.
bool is_usable(const Trial& trial) {
  switch (trial.outcome) {
    case Outcome::ok:
    case Outcome::same:
    case Outcome::slower:
    case Outcome::ambiguous:
      return trial.score.has_value() && *trial.score > 0;
    default:
      return false;
  }
}

}  // namespace

double Reward::total() const {
  if (validity < 1) return validity - 1;
  return speed - kComplexityWeight * complexity + kMarginWeight * margin;
}

Reward reward_of(const Trial& trial, std::size_t baseline_bytes) {
  Reward reward;
  reward.validity = validity_of(trial);
  if (trial.score && *trial.score > 0) reward.speed = -std::log(*trial.score);
  const double longer = static_cast<double>(std::max<std::size_t>(trial.candidate.source.size(), 1)) /
                        static_cast<double>(std::max<std::size_t>(baseline_bytes, 1));
  reward.complexity = std::max(0.0, std::log(longer));
  reward.margin = std::clamp(1 - trial.error_over_bound.value_or(1), 0.0, 1.0);
  return reward;
}

Archive::Archive(const std::string& baseline_source, const std::vector<Trial>& history, Distance distance)
    : distance_(std::move(distance)) {
  Trial baseline;
  baseline.candidate.source = baseline_source;
  baseline.score = 1;
  entries_.push_back({{baseline.candidate, "", 1}, reward_of(baseline, baseline_source.size()).total()});
  for (const Trial& trial : history) {
    if (!is_usable(trial)) continue;
    const double reward = reward_of(trial, baseline_source.size()).total();
    const Entry entry{{trial.candidate, trial.candidate_hash, *trial.score}, reward};
    const auto same = std::ranges::find_if(
        entries_, [&](const Entry& one) { return same_family(one.parent.candidate, trial.candidate); });
    if (same == entries_.end())
      entries_.push_back(entry);
    else if (reward > same->reward)
      *same = entry;
  }
  std::ranges::stable_sort(entries_, std::greater<>{}, &Entry::reward);
}

std::vector<ParentSource> Archive::parents(std::size_t count) const {
  std::vector<const Entry*> chosen{&entries_.front()};
  while (chosen.size() < std::min(count, entries_.size())) {
    const Entry* next = nullptr;
    double highest = 0;
    for (const Entry& entry : entries_) {
      if (std::ranges::find(chosen, &entry) != chosen.end()) continue;
      double nearest = 1;
      for (const Entry* other : chosen)
        nearest = std::min(nearest, distance_(entry.parent.candidate, other->parent.candidate));
      const double worth = entry.reward + kDiversityWeight * nearest;
      if (!next || worth > highest) next = &entry, highest = worth;
    }
    chosen.push_back(next);
  }
  std::vector<ParentSource> parents;
  for (const Entry* entry : chosen) parents.push_back(entry->parent);
  return parents;
}

std::vector<Archive::Mating> Archive::generation(std::size_t count, std::uint64_t seed) const {
  proposer::Random random(seed);
  const auto winner = [&] {
    std::size_t best = entries_.size() - 1;
    for (std::size_t i = 0; i < kTournament; ++i) best = std::min(best, random.below(entries_.size()));
    return best;
  };
  std::vector<Mating> matings;
  for (std::size_t i = 0; i < count; ++i) {
    // The best of all is always among the parents.
    const std::size_t first = i == 0 ? 0 : winner();
    Mating mating{entries_[first].parent, std::nullopt};
    if (entries_.size() > 1 && i > 0 && random.uniform() < kCrossoverShare) {
      const std::size_t second = winner();
      if (second != first) mating.second = entries_[second].parent;
    }
    matings.push_back(std::move(mating));
  }
  return matings;
}

}  // namespace kagent::loop
