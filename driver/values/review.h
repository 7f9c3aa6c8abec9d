// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

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

}  // namespace kagent
