// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proposer/proposer.h"

namespace kagent::proposer {

// One part of a prompt, within a budget of its own.
struct Section {
  std::string name;  // "architecture", "source", "history", ...
  std::string text;  // with its heading
  bool cut = false;  // something was left out for the budget; the text says so
};

// What a model is asked. The parts that stay the same from call to call come first, so that a provider's cache of the
// beginning holds.
struct Prompt {
  std::string system;  // role, rules, form of the answer, task and machine: the same for every call of a kernel
  std::vector<Section> sections;

  // The user's message: the sections in order.
  std::string text() const;
};

// What else decides a prompt.
struct PromptOptions {
  int candidate = 1, width = 1;    // "candidate 2 of 8 of this round"
  std::vector<std::string> taken;  // changes that this round has already, one line each: not to be proposed again
  bool structured = false;         // the answer is one JSON object, the code in it
  double scale = 1;                // of the budgets: smaller after a context overflow
};

// Asks for one candidate. Deterministic in its arguments. Works without proposal.brief, and then says less.
Prompt make_prompt(const Proposal& proposal, const PromptOptions& options = {});

// Asks for the correction of a candidate that failed: its error, distilled, and the candidate; no history, no profile.
Prompt repair_prompt(const Proposal& proposal, const FailedCandidate& failed, const PromptOptions& options = {});

// Asks for one more candidate in the same conversation.
std::string next_request(const PromptOptions& options);

// A draft that a stronger model is to write: a section behind those of make_prompt().
Section draft_section(const Candidate& draft);

// Follows an answer that could not be read or applied, in the same conversation.
std::string correction_request(const std::string& problem);

}  // namespace kagent::proposer
