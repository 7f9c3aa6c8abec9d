// SPDX-License-Identifier: Apache-2.0
#include "loop/batch.h"

#include <algorithm>
#include <chrono>

#include "loop/measurement.h"
#include "util/text.h"

namespace kagent::loop {

std::vector<Evaluated> BatchRunner::run(const std::vector<Candidate>& candidates) {
  counts_.proposed += static_cast<int>(candidates.size());
  counts_.best_ratio = history_.best_ratio();
  run_.progress.on_event(counts_);
  std::vector<Evaluated> evaluated = require(evaluate(
      bench_, candidates, history_.known_objects(bench_.baseline()), [&](const Evaluated& one) { count(one); },
      run_.interrupted));
  race_verified(evaluated);
  std::erase_if(evaluated, [](const Evaluated& one) { return one.trial.outcome == Outcome::ok && !one.trial.score; });
  for (Evaluated& one : evaluated) require(history_.add(one));
  return evaluated;
}

void BatchRunner::count(const Evaluated& one) {
  if (one.binary) ++counts_.compiled;
  if (one.trial.outcome == Outcome::ok)
    ++counts_.verified;
  else
    ++counts_.failed[one.trial.outcome];
  run_.progress.on_event(counts_);
}

void BatchRunner::race_verified(std::vector<Evaluated>& evaluated) {
  using Clock = std::chrono::steady_clock;
  std::vector<Evaluated*> verified;
  std::vector<Binary> binaries;
  for (Evaluated& one : evaluated)
    if (one.trial.outcome == Outcome::ok) verified.push_back(&one), binaries.push_back(*one.binary);
  if (binaries.empty() || run_.interrupted()) return;
  const auto start = Clock::now();
  std::vector<Raced> raced =
      require(race(bench_.runner(), run_.context.spec, bench_.baseline(), binaries, measuring(run_, bench_)));
  const double each = std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(raced.size());
  for (std::size_t i = 0; i < raced.size(); ++i) {
    Trial& trial = verified[i]->trial;
    trial.measure_s = each;
    if (raced[i].outcome != Outcome::ok) {
      trial.outcome = raced[i].outcome;
      trial.detail = util::clean(raced[i].detail, 500);
      ++counts_.failed[trial.outcome];
      continue;
    }
    if (raced[i].samples == 0) continue;
    ++counts_.measured;
    trial.score = raced[i].ratio;
    counts_.best_ratio = std::min(counts_.best_ratio, raced[i].ratio);
  }
  run_.progress.on_event(counts_);
}

}  // namespace kagent::loop
