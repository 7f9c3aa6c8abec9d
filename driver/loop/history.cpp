// SPDX-License-Identifier: Apache-2.0
#include "loop/history.h"

#include <algorithm>

#include "loop/numeric.h"
#include "util/text.h"

namespace kagent::loop {

double best_ratio(const std::vector<Trial>& trials) {
  double best = 1;
  for (const Trial& trial : trials)
    if (trial.score) best = std::min(best, *trial.score);
  return best;
}

Result<History> History::read(store::TrialStore& store, const std::string& kernel, const std::string& architecture,
                              const std::string& key) {
  History history(store);
  auto trials = store.trials(kernel, architecture, key);
  if (!trials) return std::unexpected(trials.error());
  history.trials_ = std::move(*trials);
  return history;
}

std::map<std::string, Trial> History::known_objects(const Binary& baseline) const {
  std::map<std::string, Trial> known;
  for (const Trial& trial : trials_)
    if (!trial.object_hash.empty()) known.try_emplace(trial.object_hash, trial);
  Trial original;
  original.score = 1;
  original.detail = "the baseline";
  known[baseline.object_hash] = original;
  return known;
}

const Trial* History::find(const std::string& candidate_hash) const {
  const auto found = std::ranges::find(trials_, candidate_hash, &Trial::candidate_hash);
  return found == trials_.end() ? nullptr : &*found;
}

const Candidate& History::as_written(const Candidate& candidate) const {
  const auto found =
      std::ranges::find_if(trials_, [&](const Trial& trial) { return same_family(trial.candidate, candidate); });
  return found == trials_.end() ? candidate : found->candidate;
}

double History::ratio_before(const Candidate& candidate) const {
  const Trial* parent = find(as_written(candidate).parent);
  return parent && parent->score ? *parent->score : 1;
}

const std::string* History::source_of(const std::string& candidate_hash) const {
  const Trial* trial = find(candidate_hash);
  return trial ? &trial->candidate.source : nullptr;
}

const Evaluated* History::evaluated(const std::string& candidate_hash) const {
  const auto found = evaluated_.find(candidate_hash);
  return found == evaluated_.end() ? nullptr : &found->second;
}

Result<void> History::add(Evaluated& one) {
  auto id = store_->add(one.trial);
  if (!id) return std::unexpected(id.error());
  one.trial.id = *id;
  trials_.push_back(one.trial);
  evaluated_[one.trial.candidate_hash] = one;
  return {};
}

Result<void> History::conclude(const std::string& candidate_hash, Outcome outcome, const std::string& detail) {
  const auto found = std::ranges::find(trials_, candidate_hash, &Trial::candidate_hash);
  if (found == trials_.end()) return failure("there is no trial " + candidate_hash + " to conclude");
  found->outcome = outcome;
  found->detail = util::clean(detail, 500);
  return store_->update(*found);
}

}  // namespace kagent::loop
