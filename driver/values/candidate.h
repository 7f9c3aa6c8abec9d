// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "values/kernel_spec.h"
#include "values/launch.h"
#include "values/outcome.h"

namespace kagent {

using TunableValues = std::map<std::string, std::int64_t>;

// What a proposer cost.
struct Usage {
  std::int64_t input_tokens = 0;  // cached ones included
  std::int64_t cached_tokens = 0;
  std::int64_t output_tokens = 0;  // reasoning included
  double cost = 0;                 // in the currency of the configured prices; 0 where none are configured
  double seconds = 0;              // waiting for the answer

  Usage& operator+=(const Usage& other) {
    input_tokens += other.input_tokens;
    cached_tokens += other.cached_tokens;
    output_tokens += other.output_tokens;
    cost += other.cost;
    seconds += other.seconds;
    return *this;
  }
};

// A proposed source with tunable values: untested, and untrusted text.
struct Candidate {
  std::string source;      // without the tunables' definitions; the baseline's text for a purely numeric proposal
  TunableValues tunables;  // empty: the source's own defaults
  std::string proposer;    // "search", "openai", "anthropic", "command", "agent", "replay"
  std::string hypothesis;  // why it should be faster, in the proposer's words

  // Of proposers that write code.
  std::optional<Launch> launch = {};              // style kernel: geometry instead of the spec's
  std::vector<Tunable> own_tunables = {};         // beside the spec's: the search looks for their values
  std::vector<std::string> own_constraints = {};  // over all tunables
  std::string parent = {};                        // candidate hash of what it was made of; empty: the baseline
  std::string second_parent = {};                 // of a crossover
  std::string change = {};                        // what was changed, in the proposer's words
  std::string bottleneck = {};                    // what it takes the parent to be limited by
  std::optional<double> expected_speedup = {};    // over the parent: 1.2 is a fifth more work in the same time
  std::string role = {}, model = {};              // "draft" or "refine"; the model's name
  Usage usage = {};                               // this candidate's share of the exchange that brought it
};

// The candidate as one self-contained file: the tunables as #defines on top, then the source. A launch geometry of its
// own is told in a comment, so that different geometries are different texts.
// What is compiled, measured, kept and built is always this text.
std::string render(const Candidate& candidate, const std::string& source_name);

}  // namespace kagent
