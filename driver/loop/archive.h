// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "values/brief.h"
#include "values/trial.h"

namespace kagent::loop {

// What a trial is worth as a parent. Orders the archive and nothing else: only measured speed accepts.
struct Reward {
  double speed = 0;       // log of the speedup over the baseline
  double validity = 0;    // 1: passed every check; less the earlier it failed
  double complexity = 0;  // log of its length over the baseline's, 0 if it is shorter
  double margin = 0;      // 1: exact; 0: at the bound of what is allowed
  double total() const;
};
Reward reward_of(const Trial& trial, std::size_t baseline_bytes);

// How different two candidates are, from 0 to 1.
using Distance = std::function<double(const Candidate&, const Candidate&)>;

// The sources that passed, the best values of each, by reward; the baseline among them. Never empty.
class Archive {
 public:
  Archive(const std::string& baseline_source, const std::vector<Trial>& history, Distance distance);

  std::size_t size() const { return entries_.size(); }
  const ParentSource& best() const { return entries_.front().parent; }
  // The best, and then those that are good and unlike the ones before; at most `count`, all distinct.
  std::vector<ParentSource> parents(std::size_t count) const;

  // What a generation of `count` is bred from: winners of small tournaments, alone (mutation) or two at a time
  // (crossover). The best of all is among them. Deterministic in the seed.
  struct Mating {
    ParentSource parent;
    std::optional<ParentSource> second;
  };
  std::vector<Mating> generation(std::size_t count, std::uint64_t seed) const;

 private:
  struct Entry {
    ParentSource parent;
    double reward = 0;
  };
  std::vector<Entry> entries_;  // the best first
  Distance distance_;
};

}  // namespace kagent::loop
