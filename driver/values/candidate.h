// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "values/outcome.h"

namespace kagent {

using TunableValues = std::map<std::string, std::int64_t>;

// A proposed source with tunable values: untested, and untrusted text.
struct Candidate {
  std::string source;      // without the tunables' definitions; the baseline's text for a purely numeric proposal
  TunableValues tunables;  // empty: the source's own defaults
  std::string proposer;    // "search"
  std::string hypothesis;  // why it should be faster, in the proposer's words
};

// The candidate as one self-contained file: the tunables as #defines on top, then the source.
// What is compiled, measured, kept and built is always this text.
std::string render(const Candidate& candidate, const std::string& source_name);

}  // namespace kagent
