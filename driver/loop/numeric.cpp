// SPDX-License-Identifier: Apache-2.0
#include "loop/numeric.h"

#include <algorithm>

#include "proposer/search.h"

namespace kagent::loop {
namespace {

std::string launch_text(const Candidate& candidate) {
  Candidate bare;
  bare.launch = candidate.launch;
  return render(bare, "");
}

Result<proposer::SearchSpace> space_of(const Candidate& base, const KernelSpec& spec) {
  proposer::SearchSpace space{spec.tunables, spec.constraints};
  for (const Tunable& own : base.own_tunables) {
    const bool taken = std::ranges::any_of(space.tunables, [&](const Tunable& one) { return one.name == own.name; });
    if (!taken && !own.values.empty()) space.tunables.push_back(own);
  }
  for (const std::string& text : base.own_constraints) {
    auto constraint = Expression::parse(text);
    if (!constraint) return failure("constraint '" + text + "': " + constraint.error().message, constraint.error().fix);
    space.constraints.push_back(std::move(*constraint));
  }
  return space;
}

bool holds(const proposer::SearchSpace& space, const TunableValues& values) {
  return std::ranges::all_of(space.constraints, [&](const Expression& constraint) {
    // A constraint over a tunable that keeps the source's default says nothing yet.
    if (!std::ranges::all_of(constraint.names(), [&](const std::string& name) { return values.contains(name); }))
      return true;
    auto value = constraint.evaluate([&](std::string_view name) -> const std::int64_t* {
      const auto found = values.find(std::string(name));
      return found == values.end() ? nullptr : &found->second;
    });
    return value && *value != 0;
  });
}

}  // namespace

void complete_tunables(Candidate& candidate, const KernelSpec& spec) {
  if (candidate.own_tunables.empty()) return;
  auto space = space_of(candidate, spec);
  if (!space) return;  // the compiler or the search will say what is wrong
  for (const Tunable& own : candidate.own_tunables)
    if (!own.values.empty()) candidate.tunables.try_emplace(own.name, own.values.front());
  if (holds(*space, candidate.tunables)) return;
  auto points = proposer::propose_points(*space, {}, 1, 0);
  if (points && !points->empty()) candidate.tunables = points->front().values;
}

bool same_family(const Candidate& a, const Candidate& b) {
  return a.source == b.source && launch_text(a) == launch_text(b);
}

Result<std::vector<Candidate>> numeric_candidates(const Candidate& base, const KernelSpec& spec,
                                                  const std::vector<Trial>& history, int count, std::uint64_t seed) {
  auto space = space_of(base, spec);
  if (!space) return std::unexpected(space.error());
  if (space->tunables.empty()) return std::vector<Candidate>{};
  std::vector<proposer::Observation> observations;
  for (const Trial& trial : history) {
    if (!same_family(trial.candidate, base)) continue;
    const bool answered = trial.score || (trial.outcome != Outcome::ok && trial.outcome != Outcome::duplicate);
    observations.push_back({trial.candidate.tunables, trial.score, !answered,
                            proposer::strategy_of_hypothesis(trial.candidate.hypothesis)});
  }
  auto points = proposer::propose_points(*space, observations, count, seed);
  if (!points) return std::unexpected(points.error());
  std::vector<Candidate> candidates;
  for (proposer::ProposedPoint& point : *points) {
    Candidate candidate = base;
    candidate.tunables = std::move(point.values);
    candidate.hypothesis = std::move(point.hypothesis);
    if (!base.hypothesis.empty()) candidate.hypothesis += "; of: " + base.hypothesis;
    candidate.usage = {};  // the exchange is counted once, with the candidate that came of it
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace kagent::loop
