// SPDX-License-Identifier: Apache-2.0
#include "proposer/search.h"

#include <algorithm>
#include <utility>

#include "proposer/encoding.h"
#include "proposer/knowledge.h"
#include "proposer/portfolio.h"
#include "proposer/space.h"

namespace kagent::proposer {
namespace {

class SearchProposer final : public Proposer {
 public:
  std::string name() const override { return "search"; }

  Result<std::vector<Candidate>> propose(const Proposal& proposal, int width) override {
    const SearchSpace space{proposal.spec.tunables, proposal.spec.constraints};
    if (space.tunables.empty()) return std::vector<Candidate>{};  // one point, and that is the baseline
    auto points = propose_points(space, observations(proposal), width, proposal.seed);
    if (!points) return std::unexpected(points.error());
    std::vector<Candidate> candidates;
    for (ProposedPoint& point : *points)
      candidates.push_back({proposal.source, std::move(point.values), name(), std::move(point.hypothesis)});
    return candidates;
  }

 private:
  // Trials of another text, by another proposer, say nothing about this one's tunables.
  static std::vector<Observation> observations(const Proposal& proposal) {
    std::vector<Observation> result;
    for (const Trial& trial : proposal.history) {
      if (trial.candidate.source != proposal.source) continue;
      const bool answered = trial.score || (trial.outcome != Outcome::ok && trial.outcome != Outcome::duplicate);
      result.push_back({trial.candidate.tunables, trial.score, !answered, strategy_of(trial.candidate.hypothesis)});
    }
    return result;
  }
};

}  // namespace

Result<std::vector<ProposedPoint>> propose_points(const SearchSpace& space,
                                                  const std::vector<Observation>& observations, int count,
                                                  std::uint64_t seed) {
  Result<Space> made = Space::make(space);
  if (!made) return std::unexpected(made.error());
  if (made->empty())
    return failure("no combination of the tunables' values meets the constraints",
                   "widen the values or the constraints");
  if (count <= 0) return std::vector<ProposedPoint>{};
  const Knowledge knowledge(*made, observations);
  Random random(seed);
  Random of_round(random.next() + knowledge.tried.size());  // another batch in each round
  std::vector<ProposedPoint> batch =
      propose_batch(*made, Encoding(*made), knowledge, static_cast<std::size_t>(count), of_round);
  if (batch.empty() && knowledge.tried.empty())
    return failure("no combination of the tunables' values was found that meets the constraints",
                   "declare only values that can be combined, for example powers of two alone");
  return batch;
}

std::optional<Strategy> strategy_of_hypothesis(const std::string& hypothesis) {
  return strategy_of(hypothesis);
}

std::unique_ptr<Proposer> make_search_proposer() {
  return std::make_unique<SearchProposer>();
}

}  // namespace kagent::proposer
