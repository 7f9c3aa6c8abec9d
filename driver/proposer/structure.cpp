// SPDX-License-Identifier: Apache-2.0
#include "proposer/structure.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace kagent::proposer {

namespace {

// How much the words count beside what they mean.
constexpr double kShareOfWords = 0.3;
// Two changes of one parent that have this share of their runs of words in common are one change.
constexpr double kSameChange = 0.85;

// Of sources whose runs of words are the same, in another order.
constexpr double kLeastDistance = 1e-6;

using Runs = std::vector<std::uint64_t>;

// 0: equal counts; nearing 1 the more one outweighs the other.
double count_distance(double a, double b) {
  return a == b ? 0 : std::abs(a - b) / (std::max(a, b) + 1);
}

// Jaccard's distance of sets.
template <class Set>
double set_distance(const Set& a, const Set& b) {
  if (a.empty() && b.empty()) return 0;
  std::vector<typename Set::value_type> common;
  std::ranges::set_intersection(a, b, std::back_inserter(common));
  return 1 - static_cast<double>(common.size()) / static_cast<double>(a.size() + b.size() - common.size());
}

// What only one of the two has.
Runs change(const Runs& a, const Runs& b) {
  Runs result;
  std::ranges::set_symmetric_difference(a, b, std::back_inserter(result));
  return result;
}

double feature_distance(const Structure& a, const Structure& b) {
  double sum = 0, weights = 0;
  const auto add = [&](double weight, double distance) {
    sum += weight * distance;
    weights += weight;
  };
  double loops = 0;
  for (std::size_t i = 0; i < a.loops.size(); ++i)
    loops += count_distance(a.loops[i], b.loops[i]) / static_cast<double>(a.loops.size());
  add(2, loops);
  add(2, count_distance(a.loop_depth, b.loop_depth));
  add(2, set_distance(a.spaces, b.spaces));
  add(2, set_distance(a.means, b.means));
  add(1, count_distance(std::log2(1 + a.vector_bytes), std::log2(1 + b.vector_bytes)));
  add(1, count_distance(a.stages, b.stages));
  add(1, count_distance(a.barriers, b.barriers));
  add(1, count_distance(a.atomics, b.atomics));
  add(1, count_distance(a.shuffles, b.shuffles));
  add(1, count_distance(a.shared_arrays, b.shared_arrays));
  add(1, count_distance(a.local_arrays, b.local_arrays));
  add(1, count_distance(a.kernels + a.launches, b.kernels + b.launches));
  add(0.5, count_distance(a.unrolled, b.unrolled));
  add(0.5, count_distance(a.functions, b.functions));
  add(1, set_distance(a.types, b.types));
  add(1, set_distance(a.maths, b.maths));
  add(1, set_distance(a.library_calls, b.library_calls));
  add(1, a.launch == b.launch ? 0 : 1);
  return sum / weights;
}

}  // namespace

Structure structure_of(const Candidate& candidate) {
  Structure structure = structure_of_text(candidate.source);
  if (!candidate.launch) return structure;
  const Launch& launch = *candidate.launch;
  for (const Expression& extent : launch.grid) structure.launch.push_back(extent.text());
  for (const Expression& extent : launch.block) structure.launch.push_back(extent.text());
  if (launch.cluster) {
    structure.means.insert("cluster");
    for (const Expression& extent : *launch.cluster) structure.launch.push_back(extent.text());
  }
  if (launch.shared_memory) {
    structure.spaces.insert("dynamic-shared");
    structure.launch.push_back(launch.shared_memory->text());
  }
  if (!launch.instance.empty()) structure.launch.push_back(launch.instance);
  return structure;
}

double structural_distance(const Structure& a, const Structure& b) {
  const double words = a.code == b.code ? 0 : std::max(set_distance(a.runs, b.runs), kLeastDistance);
  return (1 - kShareOfWords) * feature_distance(a, b) + kShareOfWords * words;
}

int near_duplicate(const Structure& candidate, const std::vector<Structure>& known, const Structure* parent) {
  for (std::size_t i = 0; i < known.size(); ++i) {
    bool same = structural_distance(candidate, known[i]) == 0;
    if (!same && parent != nullptr && candidate.launch == known[i].launch && candidate.unrolled == known[i].unrolled) {
      const Runs a = change(candidate.runs, parent->runs), b = change(known[i].runs, parent->runs);
      same = !a.empty() && !b.empty() && 1 - set_distance(a, b) >= kSameChange;
    }
    if (same) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace kagent::proposer
