// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "values/error.h"
#include "values/trial.h"

namespace kagent::store {

// That a kernel was tuned to the end for a key, and what came of it: also 'no improvement', so that it is not tuned
// again.
struct Conclusion {
  std::string kernel, architecture, key;
  std::string variant;  // the branch; empty: no improvement
  std::string reason;   // "every point of the space was tried", "rounds used", "time budget used", ...
  int trials = 0;
  std::string finished;  // UTC, ISO 8601

  bool improved() const { return !variant.empty(); }
};

// Trials and conclusions in SQLite (WAL), one file for a repository. Safe for several processes at once: every call is
// a transaction of its own, and waits (up to 30 s) for others. A file that is not ours or is from a newer kagent is an
// error that names it and is left as it is; a damaged one is moved aside with a message, never deleted.
class TrialStore {
 public:
  static Result<TrialStore> open(const std::filesystem::path& file);
  TrialStore(TrialStore&&) noexcept;
  TrialStore& operator=(TrialStore&&) noexcept;
  ~TrialStore();

  // One line about a damaged file that was moved aside, for the user; empty if none was.
  const std::string& notice() const;

  // Records a finished trial and gives it its id. A second trial of the same kernel, architecture, key and candidate
  // hash is not recorded again: the id of the first is returned.
  Result<std::int64_t> add(const Trial& trial);
  // Oldest first.
  Result<std::vector<Trial>> trials(const std::string& kernel, const std::string& architecture,
                                    const std::string& key) const;
  // Over all keys, newest first.
  Result<std::vector<Trial>> recent(const std::string& kernel, int limit) const;
  // Changes outcome, detail, reflection, score, verify and measure time of the trial with this id (a finalist gets its
  // verdict after racing). An error if there is none.
  Result<void> update(const Trial& trial);

  Result<void> conclude(const Conclusion& conclusion);
  Result<std::optional<Conclusion>> conclusion(const std::string& kernel, const std::string& architecture,
                                               const std::string& key) const;

 private:
  struct Implementation;
  explicit TrialStore(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace kagent::store
