// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "loop/evaluation.h"
#include "store/trial_store.h"
#include "values/trial.h"

namespace kagent::loop {

// Time of the best over the baseline's; 1 where nothing is faster.
double best_ratio(const std::vector<Trial>& trials);

// Every finished trial of one kernel, architecture and key: those on record, and those of this run, whose binaries
// still exist. What is added is on record at once.
class History {
 public:
  static Result<History> read(store::TrialStore& store, const std::string& kernel, const std::string& architecture,
                              const std::string& key);

  const std::vector<Trial>& trials() const { return trials_; }
  double best_ratio() const { return loop::best_ratio(trials_); }
  // By the hash of the object. The baseline is a trial of nobody, with the ratio 1 by definition.
  std::map<std::string, Trial> known_objects(const Binary& baseline) const;
  const Trial* find(const std::string& candidate_hash) const;
  // The ratio of what a candidate is a change of: its parent, where that is another source. Other values of a written
  // source's tunables are the same change.
  double ratio_before(const Candidate& candidate) const;
  // Null if there is no such candidate.
  const std::string* source_of(const std::string& candidate_hash) const;
  // Of this run; null for a trial of an earlier one.
  const Evaluated* evaluated(const std::string& candidate_hash) const;

  // Gives the trial its id.
  Result<void> add(Evaluated& one);
  // What became of a trial later, after judging.
  Result<void> conclude(const std::string& candidate_hash, Outcome outcome, const std::string& detail);

 private:
  explicit History(store::TrialStore& store) : store_(&store) {}
  // The first of the same source, as its proposer wrote it; the candidate itself where none is on record.
  const Candidate& as_written(const Candidate& candidate) const;

  store::TrialStore* store_;
  std::vector<Trial> trials_;
  std::map<std::string, Evaluated> evaluated_;
};

}  // namespace kagent::loop
