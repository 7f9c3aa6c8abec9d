// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proposer/model/chat.h"
#include "proposer/proposer.h"

namespace kagent::proposer {

struct WritingOptions {
  std::string name = "model";  // Candidate::proposer: "openai", "anthropic", "command", "replay"
  // After so many exchanges in one conversation a new one begins, with what the round has so far in its prompt: long
  // conversations cost more with each turn, and models hold on to their first idea.
  int exchanges_per_context = 6;
  bool structured = true;              // ask for JSON by schema; a provider without it gets the words alone
  std::int64_t max_output_tokens = 0;  // 0: as configured
  model::GiveUp give_up = {};          // true: what is there is handed back at once, so that measuring never waits
};

// An answer that brought no candidate, even after its one correction.
struct LostAnswer {
  std::string role;     // "draft", "refine"
  std::string problem;  // "truncated", "not_found", "near_duplicate", "rate_limited", ...
  std::string message;
  Usage usage;  // of the answer and its correction
};

// What a call of propose() or repair() was, beside the candidates.
struct WritingRecord {
  int exchanges = 0;          // answers that came
  int answers = 0, read = 0;  // candidates asked for, and those among them whose answer was read at once
  int applied = 0;            // candidates that came of them
  std::vector<LostAnswer> lost;
  std::optional<model::ChatError> error;  // why no more were asked for: the provider is down, the budget used up, ...
};

// A proposer that asks language models for code. `draft` writes every candidate; one that it ranks as hard is written
// again by `refine`, if that is another model. Each is told what the round has already, and a near-duplicate in
// structure is not handed on. An error only if there is no candidate because the provider failed.
class WritingProposer : public Proposer {
 public:
  // Of the last call.
  virtual const WritingRecord& record() const = 0;
  // What the next propose() would ask first; nothing is sent.
  virtual model::ChatRequest preview(const Proposal& proposal, int width) const = 0;
};

std::unique_ptr<WritingProposer> make_model_proposer(std::shared_ptr<model::ChatModel> draft,
                                                     std::shared_ptr<model::ChatModel> refine, WritingOptions options);

}  // namespace kagent::proposer
