// SPDX-License-Identifier: Apache-2.0
#include "gate/gate.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "gate/device.h"
#include "gate/entry.h"
#include "gate/finding.h"
#include "util/text.h"
#include "values/instance.h"

namespace kagent::gate {

namespace {

// A kernel's source is some kilobytes. Beyond this, or beyond twice its parent, it holds something else.
constexpr std::size_t kLargestSource = 256 * 1024;
// More reasons help nobody.
constexpr std::size_t kMostRejections = 20;

Findings find_all(const std::string& source, CodeKind kind, const Rules& rules) {
  const LexedSource lexed = lex(source);
  Findings findings;
  if (lexed.trigraph_line > 0)
    findings.push_back({"trigraph", "trigraph", lexed.trigraph_line, "trigraphs: write the character itself"});
  find_directives(lexed.tokens, kind, rules, findings);
  find_words(lexed.tokens, kind, findings);
  find_constructs(lexed.tokens, kind, findings);
  find_state(lexed.tokens, kind, findings);
  if (kind == CodeKind::host) return findings;
  find_device_code(lexed.tokens, kind, findings);
  find_ptx(lexed.tokens, kind, findings);
  find_runtime_calls(lexed.tokens, kind, rules, findings);
  if (kind == CodeKind::device_only) find_host_code(lexed.tokens, findings);
  return findings;
}

// Text that shows as something else than what is compiled.
bool is_plain_text(const std::string& source) {
  std::string visible = source;
  std::erase_if(visible, [](char c) { return c == '\r' || c == '\f' || c == '\v'; });
  return util::clean(visible, visible.size()) == visible;
}

CodeKind kind_of(const KernelSpec& spec, Language language) {
  if (spec.style == Style::kernel) return CodeKind::device_only;
  return language == Language::cuda ? CodeKind::cuda : CodeKind::host;
}

// A geometry of the candidate's own names sizes and tunables only.
void inspect_launch(const Candidate& candidate, const KernelSpec& spec, std::vector<Rejection>& rejections) {
  if (!candidate.launch) return;
  const Launch& launch = *candidate.launch;
  const auto reject = [&](const std::string& why) { rejections.push_back({"launch-geometry", 0, why}); };
  if (spec.style != Style::kernel) return reject("a launch geometry, but the source launches its kernels itself");
  if (!launch.instance.empty() && !is_instance_of(launch.instance, spec.entry))
    reject("'" + util::clean(launch.instance, 100) + "' is no instance of '" + spec.entry + "'");
  const auto is_known = [&](const std::string& name) {
    const Parameter* parameter = spec.find_parameter(name);
    const auto is_named = [&name](const Tunable& tunable) { return tunable.name == name; };
    return (parameter != nullptr && parameter->kind == ParameterKind::size) ||
           std::ranges::any_of(spec.tunables, is_named) || std::ranges::any_of(candidate.own_tunables, is_named) ||
           candidate.tunables.contains(name);
  };
  const auto check = [&](const Expression& expression) {
    for (const std::string& name : expression.names())
      if (!is_known(name)) reject("the geometry uses '" + util::clean(name, 100) + "', which is no size or tunable");
  };
  for (const auto* extents : {&launch.grid, &launch.block})
    for (const Expression& extent : *extents) check(extent);
  if (launch.cluster)
    for (const Expression& extent : *launch.cluster) check(extent);
  if (launch.shared_memory) check(*launch.shared_memory);
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

std::vector<Rejection> inspect(const Candidate& candidate, const std::string& parent_source, const KernelSpec& spec,
                               Language language) {
  const std::size_t largest = std::max(kLargestSource, 2 * parent_source.size());
  if (candidate.source.size() > largest)
    return {{"too-large", 0,
             "a source of " + std::to_string(candidate.source.size()) + " bytes; at most " + std::to_string(largest) +
                 " are compiled"}};
  const Tokens tokens = lex(candidate.source).tokens;
  std::vector<Rejection> rejections = inspect_tunables(tokens, candidate.tunables);
  inspect_launch(candidate, spec, rejections);
  // The parent's own text is the project's: only its values were changed.
  if (candidate.source == parent_source) return rejections;

  const CodeKind kind = kind_of(spec, language);
  const bool has_instance = candidate.launch && !candidate.launch->instance.empty();
  if (!is_plain_text(candidate.source))
    rejections.push_back({"not-text", 0, "the source has bytes that are no UTF-8 text, or invisible characters"});
  std::ranges::move(inspect_entry(tokens, lex(parent_source).tokens, spec.entry, kind, has_instance),
                    std::back_inserter(rejections));
  std::set<std::pair<std::string, std::string>> allowed;
  for (const Finding& finding : find_all(parent_source, kind, spec.rules))
    allowed.emplace(finding.rule, finding.subject);
  for (const Finding& finding : find_all(candidate.source, kind, spec.rules)) {
    if (rejections.size() >= kMostRejections) break;
    if (finding.rule == "foreign-library" && kind == CodeKind::host && !spec.rules.libraries.empty()) continue;
    // Once for each subject.
    if (allowed.emplace(finding.rule, finding.subject).second)
      rejections.push_back({finding.rule, finding.line, util::clean(finding.message, 400)});
  }
  std::ranges::stable_sort(rejections, {}, &Rejection::line);
  return rejections;
}

}  // namespace kagent::gate
