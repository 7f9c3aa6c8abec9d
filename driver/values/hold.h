// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kagent {

// A variant that a rollback took out of selection. It holds by the hash of the variant's source, so that the same code
// accepted again under another generation stays out too. Variants in the working tree are never held: what lies there
// is the user's own, explicit choice.
struct Hold {
  std::string kernel;
  std::string architecture;
  int generation = 0;
  std::string reference;    // its branch when it was held
  std::string source_hash;  // Evidence::source_hash
  std::string since;        // UTC, ISO 8601
};

}  // namespace kagent
