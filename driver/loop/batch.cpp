// SPDX-License-Identifier: Apache-2.0
#include "loop/batch.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "loop/measurement.h"
#include "loop/numeric.h"
#include "loop/reflection.h"
#include "loop/stopwatch.h"
#include "util/text.h"

namespace kagent::loop {
namespace {

// The values of a candidate's own tunables get so many batches before it is judged, as long as each finds better ones.
constexpr int kOwnBatches = 3;

}  // namespace

std::vector<Evaluated> BatchRunner::run(std::vector<Candidate> candidates) {
  for (Candidate& candidate : candidates) complete_tunables(candidate, run_.context.spec);
  counts_.proposed += static_cast<int>(candidates.size());
  counts_.best_ratio = history_.best_ratio();
  run_.progress.on_event(counts_);
  std::vector<std::string> hashes;
  for (const Candidate& candidate : candidates) hashes.push_back(candidate_hash(candidate, run_.context.request));
  std::vector<Evaluated> evaluated = run_.course.batch(hashes, [&] { return tried(candidates); });
  if (run_.course.replays()) complete_recorded(evaluated, candidates, hashes);
  for (Evaluated& one : evaluated) {
    one.trial.reflection = reflect(one.trial, history_.ratio_before(one.trial.candidate));
    require(history_.add(one));
  }
  return evaluated;
}

// Both go on side by side, on all processors: what they took together is divided as their own times are.
std::vector<Evaluated> BatchRunner::compiled_and_verified(const std::vector<Candidate>& candidates) {
  PhaseTimes::Seconds both{0};
  std::vector<Evaluated> evaluated;
  {
    const Stopwatch watch(both);
    evaluated = require(evaluate(
        *bench_, candidates, history_.known_objects(bench_->baseline()),
        [&](const std::string& hash) { return history_.source_of(hash); }, [&](const Evaluated& one) { count(one); },
        run_.interrupted));
  }
  double compile_s = 0, verify_s = 0;
  for (const Evaluated& one : evaluated) compile_s += one.trial.compile_s, verify_s += one.trial.verify_s;
  const double share = compile_s + verify_s > 0 ? verify_s / (compile_s + verify_s) : 0;
  run_.budget.times().compiling += (1 - share) * both;
  run_.budget.times().verifying += share * both;
  return evaluated;
}

std::vector<Evaluated> BatchRunner::tried(const std::vector<Candidate>& candidates) {
  std::vector<Evaluated> evaluated = compiled_and_verified(candidates);
  race_verified(evaluated);
  std::erase_if(evaluated, [](const Evaluated& one) { return one.trial.outcome == Outcome::ok && !one.trial.score; });
  return evaluated;
}

// With the candidates, which the record leaves out, and counted as they were then.
void BatchRunner::complete_recorded(std::vector<Evaluated>& recorded, const std::vector<Candidate>& candidates,
                                    const std::vector<std::string>& hashes) {
  for (Evaluated& one : recorded) {
    const auto at = std::ranges::find(hashes, one.trial.candidate_hash);
    if (at == hashes.end())
      throw Departure("the record has a result of " + one.trial.candidate_hash.substr(0, 12) +
                      ", which nobody asked for");
    one.trial.candidate = candidates[static_cast<std::size_t>(at - hashes.begin())];
    one.trial.kernel = run_.context.request.kernel;
    one.trial.architecture = run_.context.architecture;
    one.trial.key = run_.context.key.hash();
    count(one);
    if (one.trial.score) counts_.best_ratio = std::min(counts_.best_ratio, *one.trial.score);
  }
}

std::vector<Evaluated> BatchRunner::tune_own(const Evaluated& written, int width) {
  std::vector<Evaluated> tuned;
  // Where one point of the space needs too much of something, another may not.
  const Outcome outcome = written.trial.outcome;
  const bool hopeful = written.trial.score || outcome == Outcome::limits_exceeded || outcome == Outcome::launch_failed;
  if (written.trial.candidate.own_tunables.empty() || !hopeful) return tuned;
  double best = written.trial.score.value_or(std::numeric_limits<double>::infinity());
  for (int i = 0; i < kOwnBatches && !run_.interrupted() && run_.time_left().count() > 0; ++i) {
    Candidate base = written.trial.candidate;
    if (base.parent.empty()) base.parent = written.trial.candidate_hash;
    auto candidates = numeric_candidates(base, run_.context.spec, history_.trials(), width,
                                         std::hash<std::string>{}(written.trial.candidate_hash));
    if (!candidates) {
      run_.progress.on_event(Warning{"the tunables of a candidate are not searched: " + candidates.error().message});
      return tuned;
    }
    if (candidates->empty()) return tuned;
    const double before = best;
    for (Evaluated& one : run(*candidates)) {
      if (one.trial.score) best = std::min(best, *one.trial.score);
      tuned.push_back(std::move(one));
    }
    if (!(best < before)) return tuned;
  }
  return tuned;
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
  std::vector<Evaluated*> verified;
  std::vector<Binary> binaries;
  for (Evaluated& one : evaluated)
    if (one.trial.outcome == Outcome::ok) verified.push_back(&one), binaries.push_back(*one.binary);
  if (binaries.empty() || run_.interrupted()) return;
  PhaseTimes::Seconds took{0};
  std::vector<Raced> raced;
  {
    const Stopwatch watch(took);
    raced = require(race(bench_->runner(), bench_->spec(), bench_->baseline(), binaries, measuring(run_, *bench_)));
  }
  run_.budget.times().racing += took;
  const double each = took.count() / static_cast<double>(raced.size());
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
    trial.cases = std::move(raced[i].cases);
    counts_.best_ratio = std::min(counts_.best_ratio, raced[i].ratio);
  }
  run_.progress.on_event(counts_);
}

}  // namespace kagent::loop
