// SPDX-License-Identifier: Apache-2.0
#include "proposer/candidate_of.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "util/lexer.h"

namespace kagent::proposer {

namespace {

// Combinations of tunables that are looked at for one that the constraints allow; the search finds one in any case.
constexpr int kMostCombinations = 4096;

std::set<std::string> words_in(const std::string& source) {
  std::set<std::string> words;
  for (const util::Token& token : util::lex(source).tokens)
    if (token.is_identifier()) words.insert(token.text);
  return words;
}

// The tunables of the candidate's own: its base's that the source still uses, and the answer's.
std::vector<Tunable> own_tunables(const Answer& answer, const Candidate& base, const KernelSpec& spec,
                                  const std::string& source) {
  std::vector<Tunable> tunables = answer.tunables;
  // The spec's ranges are the project's.
  std::erase_if(tunables, [&](const Tunable& one) {
    return std::ranges::find(spec.tunables, one.name, &Tunable::name) != spec.tunables.end();
  });
  const std::set<std::string> words = words_in(source);
  for (const Tunable& one : base.own_tunables)
    if (std::ranges::find(tunables, one.name, &Tunable::name) == tunables.end() && words.contains(one.name))
      tunables.push_back(one);
  return tunables;
}

// Constraints over names that are no tunables any more are dropped.
std::vector<std::string> constraints_over(std::vector<std::string> constraints, const std::vector<Tunable>& own,
                                          const KernelSpec& spec) {
  const auto is_known = [&](const std::string& name) {
    return std::ranges::find(own, name, &Tunable::name) != own.end() ||
           std::ranges::find(spec.tunables, name, &Tunable::name) != spec.tunables.end();
  };
  std::erase_if(constraints, [&](const std::string& text) {
    const auto expression = Expression::parse(text);
    return !expression || !std::ranges::all_of(expression->names(), is_known);
  });
  return constraints;
}

bool holds(const Candidate& candidate, const KernelSpec& spec) {
  const auto lookup = [&](std::string_view name) -> const std::int64_t* {
    const auto found = candidate.tunables.find(std::string(name));
    return found == candidate.tunables.end() ? nullptr : &found->second;
  };
  const auto met = [&](const Expression& constraint) { return constraint.evaluate(lookup).value_or(0) != 0; };
  return std::ranges::all_of(spec.constraints, met) &&
         std::ranges::all_of(candidate.own_constraints,
                             [&](const std::string& text) { return met(*Expression::parse(text)); });
}

// Values for the tunables of its own that meet the constraints beside those of its base, the first ones if none do.
void choose_values(Candidate& candidate, const KernelSpec& spec) {
  const std::vector<Tunable>& own = candidate.own_tunables;
  std::vector<std::size_t> choice(own.size(), 0);
  const auto take = [&] {
    for (std::size_t i = 0; i < own.size(); ++i) candidate.tunables[own[i].name] = own[i].values[choice[i]];
  };
  for (int i = 0; i < kMostCombinations; ++i) {
    take();
    if (holds(candidate, spec)) return;
    std::size_t place = 0;
    while (place < own.size() && ++choice[place] == own[place].values.size()) choice[place++] = 0;
    if (place == own.size()) break;
  }
  std::ranges::fill(choice, 0);
  take();
}

std::expected<void, CandidateProblem> check_launch(const Launch& launch, const Candidate& candidate,
                                                   const KernelSpec& spec) {
  std::vector<const Expression*> expressions;
  for (const Expression& one : launch.grid) expressions.push_back(&one);
  for (const Expression& one : launch.block) expressions.push_back(&one);
  if (launch.cluster)
    for (const Expression& one : *launch.cluster) expressions.push_back(&one);
  if (launch.shared_memory) expressions.push_back(&*launch.shared_memory);
  for (const Expression* expression : expressions)
    for (const std::string& name : expression->names()) {
      const Parameter* parameter = spec.find_parameter(name);
      const bool size = parameter != nullptr && parameter->kind == ParameterKind::size;
      const bool tunable = candidate.tunables.contains(name) ||
                           std::ranges::find(spec.tunables, name, &Tunable::name) != spec.tunables.end();
      if (!size && !tunable)
        return std::unexpected(CandidateProblem{
            "invalid_launch",
            fmt::format("\"launch\" uses '{}', which is neither a size of the task nor a tunable", name)});
    }
  return {};
}

}  // namespace

std::expected<Candidate, CandidateProblem> candidate_of(const Answer& answer, const Candidate& base,
                                                        const KernelSpec& spec) {
  Candidate candidate;
  if (answer.source) {
    candidate.source = *answer.source;
    if (candidate.source == base.source)
      return std::unexpected(CandidateProblem{"nothing_changed", "the file is the source as it was"});
  } else if (answer.edits.empty()) {
    return std::unexpected(CandidateProblem{"no_code", "there is no code; answer with edits or the whole file"});
  } else {
    EditLimits limits;
    limits.max_edits = spec.rules.max_edits;
    auto edited = apply_edits(base.source, answer.edits, limits);
    if (!edited)
      return std::unexpected(CandidateProblem{std::string(name(edited.error().error)), edited.error().message});
    candidate.source = *std::move(edited);
  }
  candidate.own_tunables = own_tunables(answer, base, spec, candidate.source);
  std::vector<std::string> constraints = base.own_constraints;
  constraints.insert(constraints.end(), answer.constraints.begin(), answer.constraints.end());
  candidate.own_constraints = constraints_over(std::move(constraints), candidate.own_tunables, spec);
  for (const auto& [name, value] : base.tunables)
    if (std::ranges::find(spec.tunables, name, &Tunable::name) != spec.tunables.end()) candidate.tunables[name] = value;
  choose_values(candidate, spec);
  if (spec.style == Style::kernel) {
    candidate.launch = answer.launch ? answer.launch : base.launch;
    if (answer.launch)
      if (auto fits = check_launch(*answer.launch, candidate, spec); !fits)
        return std::unexpected(std::move(fits).error());
  }
  candidate.hypothesis = answer.hypothesis;
  candidate.change = answer.change.empty() ? answer.hypothesis : answer.change;
  candidate.bottleneck = answer.bottleneck;
  candidate.expected_speedup = answer.expected_speedup;
  return candidate;
}

}  // namespace kagent::proposer
