// SPDX-License-Identifier: Apache-2.0
#include "loop/history.h"

#include <algorithm>

#include "util/text.h"

namespace kagent::loop {

Result<History> History::read(store::TrialStore& store, const std::string& kernel, const std::string& architecture,
                              const std::string& key) {
  History history(store);
  auto trials = store.trials(kernel, architecture, key);
  if (!trials) return std::unexpected(trials.error());
  history.trials_ = std::move(*trials);
  return history;
}

double History::best_ratio() const {
  double best = 1;
  for (const Trial& trial : trials_)
    if (trial.score) best = std::min(best, *trial.score);
  return best;
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
