// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "loop/measurement.h"

namespace kagent::benchmarks {

// What comparisons of one incumbent with one candidate came to.
struct Tally {
  std::string kernel;
  double planted = 0;  // share of extra work in the incumbent
  int runs = 0, failed = 0;
  std::map<Comparison, int> verdicts;
  std::vector<double> ratios, half_widths, pairs, seconds;
  std::vector<std::vector<double>> pair_log_ratios;  // of each comparison, where they are kept
  // Of so many comparisons, each of pairs drawn from all that were measured, those that said FASTER.
  int drawn = 0, drawn_faster = 0;
};
// One more comparison: its decision, or why there is none.
void add(Tally& tally, const Result<Decision>& decision, double seconds);

// Makes `runs` comparisons, each with a seed of its own, and ends early when options.interrupted says so.
Tally compare(const std::string& kernel, double planted, int runs, const std::function<std::uint64_t()>& seed,
              const std::function<Result<loop::Measured>(std::uint64_t seed)>& measure,
              const std::function<bool()>& interrupted);

// A table of all tallies with its legend, and the share of false FASTER verdicts.
void print_table(const std::string& title, const std::vector<Tally>& tallies);
// Every ratio, for whoever wants to look closer.
void write_json(const std::string& file, const std::string& title, std::uint64_t seed,
                const std::vector<Tally>& tallies);

}  // namespace kagent::benchmarks
