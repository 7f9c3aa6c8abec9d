// SPDX-License-Identifier: Apache-2.0
#include "proposer/prompt.h"

#include <algorithm>

#include <fmt/format.h>

#include "proposer/architecture.h"
#include "proposer/prompt_parts.h"
#include "proposer/prompt_text.h"

namespace kagent::proposer {

namespace {

// Bytes of each part. A token is three to four of them, so that the whole stays below 40,000 tokens, and mostly far
// below: sources are some kilobytes.
constexpr std::size_t kTask = 8 * 1024, kMachine = 8 * 1024, kSource = 64 * 1024, kSecondSource = 24 * 1024,
                      kBottleneck = 8 * 1024, kBest = 3 * 1024, kHistory = 8 * 1024, kLessons = 4 * 1024,
                      kTaken = 2 * 1024, kDiagnostics = 8 * 1024;

std::size_t scaled(std::size_t budget, const PromptOptions& options) {
  return static_cast<std::size_t>(static_cast<double>(budget) * options.scale);
}

bool is_cuda(const Proposal& proposal) {
  return proposal.brief != nullptr && proposal.brief->language == Language::cuda;
}

// A text without the blank lines that empty placeholders leave: one at most, and none at its end.
std::string trimmed(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c != '\n' || !result.ends_with("\n\n")) result += c;
  while (result.ends_with("\n\n")) result.pop_back();
  return result;
}

std::string system_text(const Proposal& proposal, const PromptOptions& options) {
  const bool launch = proposal.spec.style == Style::kernel;
  const std::string launch_member =
      !launch              ? ""
      : options.structured ? "\n- \"launch\": {\"grid\": [...], \"block\": [...], \"shared_memory\": \"bytes\"}: your "
                             "own geometry, or null for the task's"
                           : " Where your change needs another launch geometry than the task's, add \"launch\": "
                             "{\"grid\": [\"ceil_div(n, TILE)\"], \"block\": [128], \"shared_memory\": \"4 * TILE\"}.";
  const std::string architecture = proposal.brief != nullptr ? proposal.brief->architecture : "";
  const std::string device = proposal.brief != nullptr ? proposal.brief->device : "";
  return trimmed(fill(
      "system.txt",
      {{"rules", rules_part(proposal)},
       {"answer", fill(options.structured ? "answer_object.txt" : "answer_blocks.txt", {{"launch", launch_member}})},
       {"task", cut_lines(task_part(proposal), kTask)},
       {"architecture",
        architecture.empty() ? "" : cut_lines(describe_architecture(architecture, device), kMachine)}}));
}

Section section(std::string name, const std::string& text, std::size_t budget) {
  Section result{std::move(name), {}, false};
  result.text = trimmed(cut_lines(text, budget, &result.cut));
  return result;
}

// The source is cut before it is fenced, or the fence would go with its end.
Section source_section(const Proposal& proposal, const PromptOptions& options) {
  Section result{"source", {}, false};
  std::string origin = "The project's own source, the baseline.";
  if (const Brief* brief = proposal.brief; brief != nullptr && !brief->parent.hash.empty()) {
    origin =
        fmt::format("The best or a promising candidate so far, at {:.3g} of the baseline's time.", brief->parent.ratio);
    if (!brief->parent.candidate.change.empty())
      origin += fmt::format(" Its last change: {}", on_one_line(brief->parent.candidate.change));
  }
  const std::string& source = proposal.brief != nullptr && !proposal.brief->parent.candidate.source.empty()
                                  ? proposal.brief->parent.candidate.source
                                  : proposal.source;
  if (proposal.brief != nullptr && !proposal.brief->parent.candidate.tunables.empty()) {
    origin += "\nValues of its tunables:";
    for (const auto& [name, value] : proposal.brief->parent.candidate.tunables)
      origin += fmt::format(" {}={}", name, value);
  }
  if (proposal.brief != nullptr && !proposal.brief->parent.candidate.own_tunables.empty()) {
    origin += "\nIts own among them, with what the search tries:";
    for (const Tunable& one : proposal.brief->parent.candidate.own_tunables)
      origin += " " + describe_tunable(one) + ";";
    origin.back() = '.';
  }
  const std::string shown = cut_source(source, proposal.spec.entry, scaled(kSource, options), &result.cut);
  if (result.cut) origin += "\nOnly a part of it is shown: answer with edits of that part, not with the whole file.";
  result.text = fill("source.txt", {{"origin", origin}, {"source", fenced(shown, is_cuda(proposal) ? "cuda" : "cpp")}});
  return result;
}

std::string taken_text(const PromptOptions& options) {
  if (options.taken.empty()) return {};
  std::string text = " This round has these already; choose something else:\n";
  for (const std::string& change : options.taken) text += "- " + on_one_line(change, 200) + "\n";
  return cut_lines(text, kTaken);
}

std::string_view in_words(Outcome outcome) {
  switch (outcome) {
    case Outcome::gate_rejected:
      return "It breaks the rules, so it was not compiled.";
    case Outcome::compile_failed:
      return "It does not compile.";
    case Outcome::limits_exceeded:
      return "It needs more registers, threads or shared memory than the device has.";
    case Outcome::launch_failed:
      return "Its kernel could not be launched.";
    case Outcome::timed_out:
      return "It did not end within its time.";
    case Outcome::crashed:
      return "It ended by a signal.";
    case Outcome::illegal_access:
      return "It touched memory that is not its own.";
    case Outcome::misaligned_access:
      return "It used an address that is not aligned for its access.";
    case Outcome::device_fault:
      return "It left an error on the device.";
    case Outcome::memory_exceeded:
      return "It allocated more memory than there is.";
    case Outcome::output_exceeded:
      return "It printed.";
    case Outcome::policy_violation:
      return "It tried a forbidden system call.";
    case Outcome::wrong_result:
      return "Its results are wrong.";
    case Outcome::unstable:
      return "Its results differ from run to run.";
    case Outcome::sanitizer_error:
      return "Its results are right, but compute-sanitizer found an error in it.";
    case Outcome::ok:
    case Outcome::duplicate:
    case Outcome::slower:
    case Outcome::same:
    case Outcome::ambiguous:
      return "It brought no gain.";
  }
  return "";
}

}  // namespace

std::string Prompt::text() const {
  std::string result;
  for (const Section& part : sections) result += (result.empty() ? "" : "\n") + part.text;
  return result;
}

Prompt make_prompt(const Proposal& proposal, const PromptOptions& options) {
  Prompt prompt;
  prompt.system = system_text(proposal, options);
  prompt.sections.push_back(source_section(proposal, options));
  const Brief* brief = proposal.brief;
  const auto add = [&](const char* name, const std::string& text, std::size_t budget) {
    if (!text.empty()) prompt.sections.push_back(section(name, text, scaled(budget, options)));
  };
  if (brief != nullptr) {
    if (brief->second_parent) {
      Section second{"second parent", {}, false};
      second.text = fill("second_parent.txt",
                         {{"ratio", fmt::format("{:.3g}", brief->second_parent->ratio)},
                          {"source", fenced(cut_source(brief->second_parent->candidate.source, proposal.spec.entry,
                                                       scaled(kSecondSource, options), &second.cut),
                                            is_cuda(proposal) ? "cuda" : "cpp")}});
      prompt.sections.push_back(std::move(second));
    }
    add("bottleneck", bottleneck_part(*brief), kBottleneck);
    add("best", best_part(*brief), kBest);
  }
  add("history", history_part(proposal), kHistory);
  if (brief != nullptr) add("lessons", lessons_part(*brief), kLessons);
  const int round = brief != nullptr ? brief->round : 1, rounds = brief != nullptr ? brief->rounds : 1;
  prompt.sections.push_back({"request",
                             fill("request.txt", {{"round", std::to_string(round)},
                                                  {"rounds", std::to_string(rounds)},
                                                  {"candidate", std::to_string(options.candidate)},
                                                  {"width", std::to_string(options.width)},
                                                  {"taken", taken_text(options)}}),
                             false});
  return prompt;
}

Prompt repair_prompt(const Proposal& proposal, const FailedCandidate& failed, const PromptOptions& options) {
  Prompt prompt;
  prompt.system = system_text(proposal, options);
  Section repair{"repair", {}, false};
  repair.text = fill("repair.txt", {{"outcome", std::string(in_words(failed.outcome))},
                                    {"diagnostics", fenced(cut_lines(failed.diagnostics, kDiagnostics, &repair.cut))},
                                    {"source", fenced(cut_source(failed.candidate.source, proposal.spec.entry,
                                                                 scaled(kSource, options), &repair.cut),
                                                      is_cuda(proposal) ? "cuda" : "cpp")}});
  prompt.sections.push_back(std::move(repair));
  return prompt;
}

std::string next_request(const PromptOptions& options) {
  return fill("next.txt", {{"candidate", std::to_string(options.candidate)},
                           {"width", std::to_string(options.width)},
                           {"taken", taken_text(options)}});
}

Section draft_section(const Candidate& draft) {
  Section result{"draft", {}, false};
  const std::string code = draft.source.empty()
                               ? "It has no code yet."
                               : "Its code, untested:\n\n" + fenced(cut_lines(draft.source, kSource, &result.cut));
  result.text = fill("draft.txt", {{"bottleneck", on_one_line(draft.bottleneck, 1000)},
                                   {"hypothesis", on_one_line(draft.hypothesis, 1000)},
                                   {"change", on_one_line(draft.change, 1000)},
                                   {"code", code}});
  return result;
}

std::string correction_request(const std::string& problem) {
  return fill("correction.txt", {{"problem", fenced(cut_lines(problem, kDiagnostics))}});
}

}  // namespace kagent::proposer
