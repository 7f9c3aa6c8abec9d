// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "values/choice.h"
#include "values/hold.h"
#include "values/review.h"

namespace kagent::selection {

// Everything that decides; gathered by the caller, so that choosing is pure.
struct Inputs {
  std::string kernel;
  std::string architecture;
  KernelKey key;                      // of the project as it is now
  std::vector<Variant> working_tree;  // each list newest generation first
  std::vector<Variant> local_branches;
  std::vector<Variant> remote_branches;  // only named in the reasons unless remote_variants
  bool remote_variants = false;
  std::vector<std::string> broken;  // variants that could not be read: "<reference>: <reason>"
  std::vector<Hold> holds;          // variants that a rollback took out
  bool require_reviewed = false;    // leaves out what nobody vouches for
  std::vector<Review> reviews;      // what people confirmed
};

// The first that matches the key and is not held, in the order working tree, local branches, remote branches; else the
// baseline, which then is the last consideration. The file's hash must be the recorded one: an edited variant file is
// stale. Reasons start with "matches", "stale: ", "broken: ", "held back by ", "not reviewed: " or
// "not looked at: ".
Choice choose(const Inputs& inputs);

// Whether there is a usable variant for the key at all, held or not. If so the kernel has a result: a build in mode
// MISSING does not tune it again, also after a rollback, and while nobody has reviewed it.
bool has_result(const Inputs& inputs);

}  // namespace kagent::selection
