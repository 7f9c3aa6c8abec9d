// SPDX-License-Identifier: Apache-2.0
#include "gate/change.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "gate/algorithm.h"
#include "gate/changed_lines.h"
#include "util/lexer.h"
#include "values/structure.h"
#include "values/structure_words.h"

namespace kagent::gate {

namespace {

// Three lines of context on either side, as `git diff` has them.
constexpr int kLinesBetween = 6;

void count_places(const std::string& source, const Ancestry& ancestry, Drift& drift) {
  const std::vector<std::string> before = code_lines(ancestry.parent), after = code_lines(source);
  std::unordered_set<std::string> other;
  if (ancestry.second_parent != nullptr)
    for (std::string& line : code_lines(*ancestry.second_parent)) other.insert(std::move(line));
  int unchanged = kLinesBetween + 1;
  for (const LineStep& step : compare_lines(before, after)) {
    if (step.kind == LineStep::Kind::same) {
      ++unchanged;
      continue;
    }
    const bool added = step.kind == LineStep::Kind::added;
    const std::string& line = added ? after[step.line] : before[step.line];
    // The second parent has what was added, or does not have what was removed.
    if (ancestry.second_parent != nullptr && other.contains(line) == added) continue;
    if (unchanged > kLinesBetween) ++drift.places;
    unchanged = 0;
    ++drift.changed_lines;
  }
}

void compare_counts(const char* what, int before, int after, Drift& drift) {
  if (before != after)
    drift.differences.push_back(std::string(what) + " " + std::to_string(before) + " -> " + std::to_string(after));
}

void compare_sets(const char* what, const std::set<std::string>& before, const std::set<std::string>& after,
                  Drift& drift) {
  for (const std::string& name : after)
    if (!before.contains(name)) drift.differences.push_back(std::string(what) + " " + name + ": new");
  for (const std::string& name : before)
    if (!after.contains(name)) drift.differences.push_back(std::string(what) + " " + name + ": gone");
}

void compare_structures(const Structure& before, const Structure& after, Drift& drift) {
  int loops_before = 0, loops_after = 0;
  for (const int count : before.loops) loops_before += count;
  for (const int count : after.loops) loops_after += count;
  compare_counts("functions", before.functions, after.functions, drift);
  compare_counts("kernels", before.kernels, after.kernels, drift);
  compare_counts("launches", before.launches, after.launches, drift);
  compare_counts("loops", loops_before, loops_after, drift);
  compare_counts("depth of loops", before.loop_depth, after.loop_depth, drift);
  compare_counts("unrolled loops", before.unrolled, after.unrolled, drift);
  compare_counts("widest vector in bytes", before.vector_bytes, after.vector_bytes, drift);
  compare_counts("waits for asynchronous copies", before.stages, after.stages, drift);
  compare_counts("barriers", before.barriers, after.barriers, drift);
  compare_counts("atomics", before.atomics, after.atomics, drift);
  compare_counts("shuffles", before.shuffles, after.shuffles, drift);
  compare_sets("memory", before.spaces, after.spaces, drift);
  compare_sets("means", before.means, after.means, drift);
  compare_sets("functions:", before.maths, after.maths, drift);
  compare_sets("type", before.types, after.types, drift);
  compare_sets("library:", before.library_calls, after.library_calls, drift);
}

void inspect_own_tunables(const Candidate& candidate, const KernelSpec& spec, std::vector<Rejection>& rejections) {
  if (candidate.own_tunables.empty()) return;
  std::unordered_set<std::string> words;
  for (const util::Token& token : util::lex(candidate.source).tokens)
    if (token.is_identifier()) words.insert(token.text);
  for (const Tunable& tunable : candidate.own_tunables) {
    const std::string& name = tunable.name;
    const bool taken = spec.find_parameter(name) != nullptr || name == spec.entry || spec.entry.ends_with("::" + name);
    if (taken || name.starts_with('_') || is_builtin(name) || !meaning_of(name).type.empty())
      rejections.push_back({"tunable-name", 0,
                            "'" + name +
                                "' cannot be a tunable: as a macro it would replace a name "
                                "that has a meaning already"});
    else if (!words.contains(name))
      rejections.push_back({"tunable-unused", 0, "the source never uses its own tunable '" + name + "'"});
  }
}

}  // namespace

Drift measure_drift(const std::string& source, const Ancestry& ancestry) {
  Drift drift;
  if (source == ancestry.parent) return drift;
  count_places(source, ancestry, drift);
  compare_structures(structure_of_text(ancestry.parent), structure_of_text(source), drift);
  return drift;
}

std::vector<Rejection> inspect_change(const Candidate& candidate, const Ancestry& ancestry, const KernelSpec& spec) {
  if (candidate.source == ancestry.parent || candidate.source == ancestry.baseline) return {};
  std::vector<Rejection> rejections;
  Drift drift;
  count_places(candidate.source, ancestry, drift);
  if (drift.places > spec.rules.max_edits)
    rejections.push_back({"too-many-edits", 0,
                          "the source differs from its parent in " + std::to_string(drift.places) +
                              " places; rules.max_edits allows " + std::to_string(spec.rules.max_edits)});
  inspect_own_tunables(candidate, spec, rejections);
  if (!spec.rules.allow_algorithm_change) {
    std::vector<Structure> known = {structure_of_text(ancestry.parent)};
    if (ancestry.baseline != ancestry.parent) known.push_back(structure_of_text(ancestry.baseline));
    if (ancestry.second_parent != nullptr) known.push_back(structure_of_text(*ancestry.second_parent));
    std::ranges::move(inspect_algorithm(structure_of_text(candidate.source), known, spec),
                      std::back_inserter(rejections));
  }
  return rejections;
}

}  // namespace kagent::gate
