// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace kagent {

// What a variant was made for and must match to be built. Each part is a SHA-256 in hex, so that a mismatch can be
// named. Recorded beside it as evidence, but no part of it: optimisation flags, compiler, driver, device.
struct KernelKey {
  std::string source;                          // the baseline's contents
  std::map<std::string, std::string> headers;  // project headers: path relative to the project -> hash
  std::string definitions;                     // -D and -U in order, without NDEBUG and CMAKE_INTDIR
  std::string standard;                        // "gnu++20", or "default"; as text, not hashed
  std::string spec;                            // kernel.json
  std::map<std::string, std::string> golden;   // .npy and reference files: path relative to the golden folder -> hash

  std::string hash() const;  // over all parts, in a fixed order
};

// First difference in words ("header src/tile.h changed", "golden x.npy removed"), or empty if equal.
std::string difference(const KernelKey& recorded, const KernelKey& current);

}  // namespace kagent
