// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "gate/gate.h"

namespace kagent::gate {

// The texts that a candidate was made of.
struct Ancestry {
  const std::string& baseline;
  const std::string& parent;                   // the baseline itself at first
  const std::string* second_parent = nullptr;  // of a crossover: what comes from it is no edit
};

// How far a candidate is from its parent.
struct Drift {
  int places = 0;  // groups of changed lines with at most six unchanged ones in between, as `git diff` shows them
  int changed_lines = 0;                 // comments, blank lines and layout left out
  std::vector<std::string> differences;  // of structure, in words: "barriers 1 -> 3", "shared memory: new"
};

Drift measure_drift(const std::string& source, const Ancestry& ancestry);

// What the spec's rules say of a change, beside inspect()'s policy: "too-many-edits" beyond rules.max_edits places,
// "algorithm-functions", "algorithm-precision", "algorithm-recursion", "algorithm-atomics", "algorithm-library" and
// "algorithm-loops" unless rules.allow_algorithm_change (docs/loop.md says what each is), and "tunable-name" or
// "tunable-unused" for tunables of the candidate's own. A source that is its parent's passes without being read.
std::vector<Rejection> inspect_change(const Candidate& candidate, const Ancestry& ancestry, const KernelSpec& spec);

}  // namespace kagent::gate
