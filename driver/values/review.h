// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "values/variant.h"

namespace kagent {

// That a person looked at a variant and confirmed it. It holds for the hash of the variant's source, so that the same
// code under another generation is confirmed too, and an edited one is not.
struct Review {
  std::string kernel;
  std::string architecture;
  int generation = 0;
  std::string reference;    // its branch when it was confirmed
  std::string source_hash;  // Evidence::source_hash
  std::string since;        // UTC, ISO 8601
};

// Whether somebody vouches for a variant: it lies in variants/ of the working tree, where the project's own review let
// it in; or it was confirmed here; or, on a local branch, its evidence says that its architecture was known when it was
// accepted. A branch of a remote is not believed when it speaks of itself.
bool is_reviewed(const Variant& variant, const std::vector<Review>& reviews);

}  // namespace kagent
