// SPDX-License-Identifier: Apache-2.0
#include "loop/tunable_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>

namespace kagent::loop {
namespace {

// Enough different values that one program for all of them is no coincidence.
constexpr int kEnoughTrials = 4;

// The words of a preprocessor line: "#  define BLOCK 128" -> {"define", "BLOCK", ...}; empty for any other line.
std::vector<std::string> directive(const std::string& line) {
  const std::size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#') return {};
  std::istringstream words(line.substr(hash + 1));
  std::vector<std::string> result;
  for (std::string word; words >> word;) result.push_back(word);
  return result;
}

}  // namespace

std::vector<std::string> overridden_tunables(const std::string& source, const std::vector<Tunable>& tunables) {
  std::vector<std::string> found;
  // Text of the conditions that are open, innermost last.
  std::vector<std::string> conditions;
  std::istringstream lines(source);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::vector<std::string> words = directive(line);
    if (words.empty()) continue;
    if (words[0].starts_with("if")) conditions.push_back(line);
    if (words[0] == "endif" && !conditions.empty()) conditions.pop_back();
    if (words[0] != "define" || words.size() < 2) continue;
    for (const Tunable& tunable : tunables) {
      const bool guarded = std::ranges::any_of(
          conditions, [&](const std::string& condition) { return condition.find(tunable.name) != std::string::npos; });
      if (words[1] == tunable.name && !guarded)
        found.push_back(fmt::format("line {} defines {} itself, so no other value can have an effect: write "
                                    "#ifndef {} before it and #endif after it",
                                    number, tunable.name, tunable.name));
    }
  }
  return found;
}

bool tunables_have_no_effect(const std::vector<Trial>& trials) {
  int compiled = 0;
  std::string first;
  for (const Trial& trial : trials) {
    if (trial.object_hash.empty() || trial.candidate.tunables.empty()) continue;
    if (++compiled > 1 && trial.object_hash != first) return false;
    first = trial.object_hash;
  }
  return compiled >= kEnoughTrials;
}

}  // namespace kagent::loop
