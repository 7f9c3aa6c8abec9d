// SPDX-License-Identifier: Apache-2.0
#include "gate/gate.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "gate/entry.h"
#include "gate/finding.h"
#include "util/text.h"

namespace kagent::gate {

namespace {

// A kernel's source is some kilobytes. Beyond this, or beyond twice its parent, it holds something else.
constexpr std::size_t kLargestSource = 256 * 1024;
// More reasons help nobody.
constexpr std::size_t kMostRejections = 20;

Findings find_all(const std::string& source) {
  const LexedSource lexed = lex(source);
  Findings findings;
  if (lexed.trigraph_line > 0)
    findings.push_back({"trigraph", "trigraph", lexed.trigraph_line, "trigraphs: write the character itself"});
  find_directives(lexed.tokens, findings);
  find_words(lexed.tokens, findings);
  find_constructs(lexed.tokens, findings);
  find_state(lexed.tokens, findings);
  return findings;
}

// Text that shows as something else than what is compiled.
bool is_plain_text(const std::string& source) {
  std::string visible = source;
  std::erase_if(visible, [](char c) { return c == '\r' || c == '\f' || c == '\v'; });
  return util::clean(visible, visible.size()) == visible;
}

}  // namespace

Tokens without_directives(const Tokens& tokens) {
  Tokens kept;
  for (std::size_t i = 0; i < tokens.size();) {
    if (begins_directive(tokens, i))
      i = end_of_line(tokens, i);
    else
      kept.push_back(tokens[i++]);
  }
  match_brackets(kept);
  return kept;
}

bool begins_directive(const Tokens& tokens, std::size_t index) {
  return tokens[index].starts_line && tokens[index].is("#");
}

std::size_t end_of_line(const Tokens& tokens, std::size_t index) {
  ++index;
  while (index < tokens.size() && !tokens[index].starts_line) ++index;
  return index;
}

std::size_t past_group(const Tokens& tokens, std::size_t index) {
  return tokens[index].past;
}

std::vector<Rejection> inspect(const Candidate& candidate, const std::string& parent_source, const KernelSpec& spec) {
  const std::size_t largest = std::max(kLargestSource, 2 * parent_source.size());
  if (candidate.source.size() > largest)
    return {{"too-large", 0,
             "a source of " + std::to_string(candidate.source.size()) + " bytes; at most " + std::to_string(largest) +
                 " are compiled"}};
  const Tokens tokens = lex(candidate.source).tokens;
  std::vector<Rejection> rejections = inspect_tunables(tokens, candidate.tunables);
  // The parent's own text is the project's: only its values were changed.
  if (candidate.source == parent_source) return rejections;

  if (!is_plain_text(candidate.source))
    rejections.push_back({"not-text", 0, "the source has bytes that are no UTF-8 text, or invisible characters"});
  std::ranges::move(inspect_entry(tokens, lex(parent_source).tokens, spec.entry), std::back_inserter(rejections));
  std::set<std::pair<std::string, std::string>> allowed;
  for (const Finding& finding : find_all(parent_source)) allowed.emplace(finding.rule, finding.subject);
  for (const Finding& finding : find_all(candidate.source)) {
    if (rejections.size() >= kMostRejections) break;
    if (finding.rule == "foreign-library" && !spec.rules.libraries.empty()) continue;
    // Once for each subject.
    if (allowed.emplace(finding.rule, finding.subject).second)
      rejections.push_back({finding.rule, finding.line, util::clean(finding.message, 400)});
  }
  std::ranges::stable_sort(rejections, {}, &Rejection::line);
  return rejections;
}

}  // namespace kagent::gate
