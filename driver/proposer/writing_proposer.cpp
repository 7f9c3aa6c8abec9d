// SPDX-License-Identifier: Apache-2.0
#include "proposer/writing_proposer.h"

#include <algorithm>
#include <utility>

#include "proposer/answer.h"
#include "proposer/candidate_of.h"
#include "proposer/conversation.h"
#include "proposer/prompt.h"
#include "proposer/structure.h"

namespace kagent::proposer {

namespace {

using model::ChatErrorKind;

// After these the provider may still answer the next question.
bool concerns_this_answer_alone(ChatErrorKind kind) {
  return kind == ChatErrorKind::refused || kind == ChatErrorKind::too_large;
}

// A candidate, or a draft that has no code yet, with what the answer said of itself.
struct Written {
  Candidate candidate;
  bool hard = false;
};

class ModelProposer final : public WritingProposer {
 public:
  ModelProposer(std::shared_ptr<model::ChatModel> draft, std::shared_ptr<model::ChatModel> refine,
                WritingOptions options)
      : draft_(std::move(draft)), refine_(std::move(refine)), options_(std::move(options)) {}

  std::string name() const override { return options_.name; }
  const WritingRecord& record() const override { return record_; }

  Result<std::vector<Candidate>> propose(const Proposal& proposal, int width) override {
    record_ = {};
    Round round{proposal, base_of(proposal), structure_of(base_of(proposal)), {}, {}, {}};
    Conversation drafting(*draft_, options_, record_);
    for (int i = 1; i <= width && !gave_up(); ++i) {
      PromptOptions asked{i, width, round.taken, options_.structured, 1};
      if (drafting.empty() || drafting.exchanges() >= options_.exchanges_per_context)
        drafting.begin(make_prompt(proposal, asked));
      else
        drafting.say(next_request(asked));
      ++record_.answers;
      Usage usage;
      auto written = write(drafting, "draft", round, usage);
      if (!written && overflowed_) {
        // A new conversation, with less in it.
        asked.scale = 0.4;
        drafting.begin(make_prompt(proposal, asked));
        written = write(drafting, "draft", round, usage);
      }
      if (written && needs_refining(*written)) written = refined(*written, round, asked, usage);
      if (written) keep(std::move(written->candidate), round, usage);
      if (record_.error) break;
    }
    if (round.candidates.empty() && record_.error && record_.error->kind != ChatErrorKind::cancelled)
      return failure("the model gave no answer (" + std::string(model::name(record_.error->kind)) +
                     "): " + record_.error->message);
    return std::move(round.candidates);
  }

  Result<std::optional<Candidate>> repair(const Proposal& proposal, const FailedCandidate& failed) override {
    record_ = {};
    const bool strong = failed.candidate.role == "refine";
    Conversation repairing(strong ? *refine_ : *draft_, options_, record_);
    PromptOptions asked;
    asked.structured = options_.structured;
    repairing.begin(repair_prompt(proposal, failed, asked));
    Round round{proposal, failed.candidate, {}, {}, {}, {}};
    Usage usage;
    record_.answers = 1;
    auto written = write(repairing, strong ? "refine" : "draft", round, usage);
    if (!written || written->candidate.source.empty()) {
      if (record_.error && record_.error->kind != ChatErrorKind::cancelled)
        return failure("the model gave no repair (" + std::string(model::name(record_.error->kind)) +
                       "): " + record_.error->message);
      return std::nullopt;
    }
    ++record_.applied;
    Candidate candidate = std::move(written->candidate);
    // It still is the candidate that it repairs: the same idea, the same parents.
    candidate.change = failed.candidate.change;
    candidate.hypothesis = failed.candidate.hypothesis;
    candidate.bottleneck = failed.candidate.bottleneck;
    if (!candidate.expected_speedup) candidate.expected_speedup = failed.candidate.expected_speedup;
    candidate.parent = failed.candidate.parent;
    candidate.second_parent = failed.candidate.second_parent;
    candidate.proposer = options_.name;
    candidate.usage = usage;
    return candidate;
  }

  model::ChatRequest preview(const Proposal& proposal, int width) const override {
    const PromptOptions asked{1, width, {}, options_.structured, 1};
    return Conversation::request(Conversation::messages(make_prompt(proposal, asked)), options_);
  }

 private:
  struct Round {
    const Proposal& proposal;
    Candidate base;  // what answers are edits of
    Structure base_structure;
    std::vector<std::string> taken;
    std::vector<Structure> structures;  // of the candidates
    std::vector<Candidate> candidates;
  };

  static Candidate base_of(const Proposal& proposal) {
    Candidate base;
    if (proposal.brief != nullptr) base = proposal.brief->parent.candidate;
    if (base.source.empty()) base.source = proposal.source;
    return base;
  }

  bool gave_up() const { return options_.give_up && options_.give_up(); }
  bool needs_refining(const Written& written) const {
    return written.candidate.source.empty() || (written.hard && refine_ != nullptr && refine_ != draft_);
  }

  void lose(const char* role, std::string problem, std::string message, const Usage& usage) {
    record_.lost.push_back({role, std::move(problem), std::move(message), usage});
  }

  // Asks, reads and applies; once more where that fails. Nothing if the answer is lost or the provider failed.
  std::optional<Written> write(Conversation& conversation, const char* role, Round& round, Usage& usage) {
    overflowed_ = false;
    for (int attempt = 1;; ++attempt) {
      auto reply = conversation.ask(usage);
      if (!reply) {
        note_error(reply.error(), role, conversation, usage);
        return std::nullopt;
      }
      auto [written, problem] = read(*reply, round);
      if (written) {
        if (attempt == 1) ++record_.read;
        written->candidate.role = role;
        written->candidate.model = reply->model;
        return std::move(written);
      }
      if (attempt == 2 || gave_up()) {
        lose(role, problem.name, problem.message, usage);
        return std::nullopt;
      }
      conversation.say(correction_request(problem.message));
    }
  }

  void note_error(const model::ChatError& error, const char* role, const Conversation& conversation,
                  const Usage& usage) {
    overflowed_ = error.kind == ChatErrorKind::context_overflow && conversation.exchanges() > 0;
    if (overflowed_) return;
    lose(role, std::string(model::name(error.kind)), error.message, usage);
    if (!concerns_this_answer_alone(error.kind)) record_.error = error;
  }

  std::pair<std::optional<Written>, CandidateProblem> read(const model::ChatReply& reply, const Round& round) const {
    const KernelSpec& spec = round.proposal.spec;
    auto answer = parse_answer(reply.text, spec.entry);
    if (!answer) {
      CandidateProblem problem{std::string(proposer::name(answer.error().error)), answer.error().message};
      if (reply.finish == model::Finish::length) problem.message += " (the answer reached the limit on its length)";
      return {std::nullopt, std::move(problem)};
    }
    if (answer->edits.empty() && !answer->source) {
      Written draft{{}, true};
      draft.candidate.bottleneck = answer->bottleneck;
      draft.candidate.hypothesis = answer->hypothesis;
      draft.candidate.change = answer->change;
      return {std::move(draft), {}};
    }
    auto candidate = candidate_of(*answer, round.base, spec);
    if (!candidate) return {std::nullopt, std::move(candidate).error()};
    return {Written{*std::move(candidate), answer->hard}, {}};
  }

  // The draft written again by the stronger model; the draft's own code where that brings none.
  std::optional<Written> refined(const Written& draft, Round& round, const PromptOptions& asked, Usage& usage) {
    model::ChatModel& strong = refine_ != nullptr ? *refine_ : *draft_;
    Conversation refining(strong, options_, record_);
    Prompt prompt = make_prompt(round.proposal, asked);
    prompt.sections.insert(prompt.sections.end() - 1, draft_section(draft.candidate));
    refining.begin(prompt);
    auto written = write(refining, "refine", round, usage);
    if (written && !written->candidate.source.empty()) return written;
    if (!draft.candidate.source.empty()) return draft;
    if (written) lose("refine", "no_code", "neither the draft nor the stronger model wrote code", usage);
    return std::nullopt;
  }

  void keep(Candidate candidate, Round& round, const Usage& usage) {
    const Structure structure = structure_of(candidate);
    std::vector<Structure> known = round.structures;
    known.push_back(round.base_structure);
    if (const int same = near_duplicate(structure, known, &round.base_structure); same >= 0) {
      const bool parent = same + 1 == static_cast<int>(known.size());
      lose(candidate.role == "refine" ? "refine" : "draft", "near_duplicate",
           parent ? "it differs from its parent in names, comments, layout or numbers of macros alone"
                  : "it is candidate " + std::to_string(same + 1) + " of the round over again",
           usage);
    } else {
      candidate.proposer = options_.name;
      if (const Brief* brief = round.proposal.brief) {
        candidate.parent = brief->parent.hash;
        if (brief->second_parent) candidate.second_parent = brief->second_parent->hash;
      }
      candidate.usage = usage;
      ++record_.applied;
      round.structures.push_back(structure);
      round.candidates.push_back(candidate);
    }
    round.taken.push_back(candidate.change);
  }

  std::shared_ptr<model::ChatModel> draft_, refine_;
  WritingOptions options_;
  WritingRecord record_;
  bool overflowed_ = false;  // the last answer failed for the length of its conversation alone
};

}  // namespace

std::unique_ptr<WritingProposer> make_model_proposer(std::shared_ptr<model::ChatModel> draft,
                                                     std::shared_ptr<model::ChatModel> refine, WritingOptions options) {
  return std::make_unique<ModelProposer>(std::move(draft), std::move(refine), std::move(options));
}

}  // namespace kagent::proposer
