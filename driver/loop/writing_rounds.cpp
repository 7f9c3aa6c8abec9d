// SPDX-License-Identifier: Apache-2.0
#include "loop/writing_rounds.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <map>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "build_step/header_list.h"
#include "loop/experience.h"
#include "loop/measurement.h"
#include "loop/numeric.h"
#include "loop/stopwatch.h"
#include "loop/written.h"

namespace kagent::loop {
namespace {

// A candidate that fails is given back so often, within its round.
constexpr int kRepairs = 2;
// The search's candidates while an answer is waited for: few at a time, so that the answer does not wait long either.
constexpr int kMeanwhile = 4;
constexpr std::chrono::milliseconds kPoll{50};
// Every so many rounds a proposer is asked against its forecast: the kernel has changed since.
constexpr int kSkipsInARow = 3;
constexpr int kMostTroubles = 2;

bool is_repairable(Outcome outcome) {
  switch (outcome) {
    case Outcome::gate_rejected:
    case Outcome::compile_failed:
    case Outcome::limits_exceeded:
    case Outcome::launch_failed:
    case Outcome::timed_out:
    case Outcome::crashed:
    case Outcome::illegal_access:
    case Outcome::misaligned_access:
    case Outcome::device_fault:
    case Outcome::memory_exceeded:
    case Outcome::output_exceeded:
    case Outcome::policy_violation:
    case Outcome::wrong_result:
    case Outcome::unstable:
    case Outcome::sanitizer_error:
      return true;
    case Outcome::ok:
    case Outcome::duplicate:
    case Outcome::slower:
    case Outcome::same:
    case Outcome::ambiguous:
      return false;
  }
  return false;
}

bool has_compiled(Outcome outcome) {
  return outcome != Outcome::gate_rejected && outcome != Outcome::compile_failed;
}

// Whatever was measured, and was the same binary as another maybe, was right before.
bool has_passed(const Trial& trial) {
  using enum Outcome;
  return trial.score || trial.outcome == ok || trial.outcome == slower || trial.outcome == same ||
         trial.outcome == ambiguous;
}

bool is_transient(proposer::model::ChatErrorKind kind) {
  using enum proposer::model::ChatErrorKind;
  return kind == rate_limited || kind == overloaded || kind == network || kind == timed_out || kind == malformed;
}

}  // namespace

// One question, with all that it refers to: the history grows while it is being answered.
struct WritingRounds::Request {
  Brief brief;
  std::vector<Trial> history;
  int width = 1;
  std::uint64_t seed = 0;

  proposer::Proposal proposal(const KernelSpec& spec) const {
    return {spec, brief.parent.candidate.source, history, seed, &brief};
  }
};

std::optional<std::string> WritingRounds::reason_to_skip(const RunState& state) {
  if (over_) return "";
  if (auto reason = reason_to_fall_back(state)) {
    over_ = true;
    return *reason + "; the search goes on alone";
  }
  if (std::exchange(pause_, false)) return "";
  const auto lessons = relevant_lessons(known_lessons(run_.options.bench.state_folder), run_.context.architecture,
                                        features_of(run_.context.spec), pattern_, history_.trials(), 40);
  const Forecast hope = forecast(faster_, lessons, pattern_);
  if (!hope.wasted || skipped_ >= kSkipsInARow) {
    skipped_ = 0;
    return std::nullopt;
  }
  ++skipped_;
  return "the model is not asked in this round: " + hope.text;
}

Brief WritingRounds::brief(int number, ParentSource parent, std::optional<ParentSource> second) {
  BriefInput input{.context = run_.context, .history = history_.trials()};
  input.device = bench_ ? bench_->platform().device : run_.course.beginning().device;
  input.flags = bench_ ? build_step::portable_text(bench_->toolchain().flags(), run_.context.request)
                       : run_.course.beginning().flags;
  input.lessons = known_lessons(run_.options.bench.state_folder);
  input.state_folder = run_.options.bench.state_folder;
  input.round = number;
  input.rounds = run_.options.rounds;
  AnalysisFound found = run_.course.analysis(parent.hash, [&] { return analysed(input, parent.hash); });
  baseline_times_ = std::move(found.baseline_times);
  input.baseline_times = baseline_times_;
  input.bottlenecks = std::move(found.bottlenecks);
  pattern_ = pattern_of(input.bottlenecks);
  return build_brief(input, std::move(parent), std::move(second));
}

AnalysisFound WritingRounds::analysed(BriefInput input, const std::string& hash) const {
  const Evaluated* known = history_.evaluated(hash);
  input.parent_binary = hash.empty() ? &bench_->baseline() : known && known->binary ? &*known->binary : nullptr;
  input.baseline_times = baseline_times_.empty() ? measured_baseline() : baseline_times_;
  return {input.baseline_times, analyse_parent(input, hash)};
}

std::vector<CaseTimes> WritingRounds::measured_baseline() const {
  auto raced = require(
      race(bench_->runner(), bench_->spec(), bench_->baseline(), {bench_->baseline()}, measuring(run_, *bench_)));
  return raced.front().outcome == Outcome::ok ? std::move(raced.front().cases) : std::vector<CaseTimes>{};
}

// The best is changed, and in every third round a good one that is unlike it; a population is bred in pairs.
std::vector<WritingRounds::Request> WritingRounds::requests(int number) {
  const Archive archive(run_.context.source_text, history_.trials(), structural_distance);
  const std::uint64_t seed = std::hash<std::string>{}(run_.context.key.hash()) + static_cast<std::uint64_t>(number);
  std::vector<Request> made;
  if (run_.options.population > 0) {
    // Matings of the same parents are one question, so that what is proposed second differs from what was first.
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    for (Archive::Mating& mating : archive.generation(static_cast<std::size_t>(run_.options.population), seed)) {
      const auto parents = std::pair(mating.parent.hash, mating.second ? mating.second->hash : "");
      const auto [place, is_new] = known.emplace(parents, made.size());
      if (is_new)
        made.push_back({brief(number, std::move(mating.parent), std::move(mating.second)), history_.trials(), 0, seed});
      ++made[place->second].width;
    }
    return made;
  }
  constexpr int kDiverseEvery = 3;
  std::vector<ParentSource> parents = archive.parents(2);
  ParentSource& chosen = number % kDiverseEvery == 0 ? parents.back() : parents.front();
  made.push_back({brief(number, std::move(chosen), std::nullopt), history_.trials(), run_.options.width, seed});
  return made;
}

std::string WritingRounds::preview(int number) {
  const Request first = std::move(requests(number).front());
  return proposers_.draft->preview(proposers_.writing->preview(first.proposal(run_.context.spec), first.width));
}

// The search measures; in a replay, as many batches as it did then.
void WritingRounds::wait_for_answers(const std::function<bool()>& answered, std::vector<Evaluated>& finished) {
  if (run_.course.replays())
    while (run_.course.takes_meanwhile()) measure_meanwhile(finished);
  else
    while (!answered()) measure_meanwhile(finished);
}

// A batch of the search over the best source, if there is one left.
void WritingRounds::measure_meanwhile(std::vector<Evaluated>& finished) {
  const Archive archive(run_.context.source_text, history_.trials(), structural_distance);
  auto candidates = numeric_candidates(archive.best().candidate, run_.context.spec, history_.trials(), kMeanwhile,
                                       std::hash<std::string>{}(run_.context.key.hash()));
  const bool replays = run_.course.replays();
  if (!candidates || candidates->empty() || (!replays && run_.budget.left().count() <= 0)) {
    if (replays) throw Departure("the search has nothing to measure while an answer is waited for, and had then");
    const Stopwatch watch(run_.budget.times().waiting);
    std::this_thread::sleep_for(kPoll);
    return;
  }
  if (!replays) run_.course.note_meanwhile();
  for (Candidate& candidate : *candidates) {
    if (candidate.proposer.empty()) candidate.proposer = "search";
    if (candidate.parent.empty()) candidate.parent = archive.best().hash;
  }
  for (Evaluated& one : batches_.run(std::move(*candidates))) finished.push_back(std::move(one));
}

std::vector<Candidate> WritingRounds::ask(const std::vector<Request>& requests, std::vector<Evaluated>& finished) {
  auto answers = std::async(std::launch::async, [&] {
    std::vector<Candidate> candidates;
    for (const Request& request : requests) {
      auto proposed = proposers_.writing->propose(request.proposal(run_.context.spec), request.width);
      note_answers(proposers_.writing->record());
      if (!proposed) break;
      for (Candidate& one : *proposed) candidates.push_back(std::move(one));
      if (proposers_.writing->record().error) break;
    }
    return candidates;
  });
  const auto answered = [&] { return answers.wait_for(std::chrono::seconds(0)) == std::future_status::ready; };
  wait_for_answers(answered, finished);
  std::vector<Candidate> candidates = answers.get();
  note_trouble();
  return candidates;
}

void WritingRounds::note_answers(const proposer::WritingRecord& record) {
  answers_.asked += record.answers;
  answers_.read += record.read;
  answers_.applied += record.applied;
  for (const proposer::LostAnswer& one : record.lost) ++answers_.lost[one.problem];
}

void WritingRounds::note_trouble() {
  const auto& error = proposers_.writing->record().error;
  if (!error || error->kind == proposer::model::ChatErrorKind::cancelled) return;
  if (error->kind == proposer::model::ChatErrorKind::budget) {
    over_ = true;
    spent_ = error->message;
    return;
  }
  ++troubles_;
  over_ = !is_transient(error->kind) || troubles_ >= kMostTroubles;
  pause_ = !over_;
  run_.progress.on_event(Warning{
      fmt::format("{}: {}; {}", name(error->kind), error->message,
                  over_ ? "the search goes on alone" : "the next round is the search's, then it is asked again")});
}

// One repair each, all on a thread of their own; the search goes on meanwhile. What nobody repaired has failed for
// good.
std::vector<Evaluated> WritingRounds::repair(std::vector<Evaluated> failed, const std::vector<Request>& requests,
                                             std::vector<Evaluated>& finished, std::vector<Evaluated>& given_up) {
  auto answers = std::async(std::launch::async, [&] {
    std::vector<std::optional<Candidate>> repaired(failed.size());
    for (std::size_t i = 0; i < failed.size(); ++i) {
      const Evaluated& one = failed[i];
      const FailedCandidate asked{one.trial.candidate, one.trial.outcome,
                                  one.diagnostics.empty() ? one.trial.detail : one.diagnostics};
      const auto of = std::ranges::find_if(
          requests, [&](const Request& request) { return request.brief.parent.hash == one.trial.candidate.parent; });
      const Request& request = of == requests.end() ? requests.front() : *of;
      auto answer = proposers_.writing->repair(request.proposal(run_.context.spec), asked);
      if (!answer) break;
      repaired[i] = std::move(*answer);
    }
    return repaired;
  });
  const auto answered = [&] { return answers.wait_for(std::chrono::seconds(0)) == std::future_status::ready; };
  wait_for_answers(answered, finished);
  std::vector<Candidate> repaired;
  std::vector<std::optional<Candidate>> all = answers.get();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i])
      repaired.push_back(*std::move(all[i]));
    else
      given_up.push_back(std::move(failed[i]));
  }
  note_trouble();
  return repaired.empty() ? std::vector<Evaluated>{} : batches_.run(std::move(repaired));
}

std::vector<Evaluated> WritingRounds::round(int number, RunState& state) {
  std::vector<Evaluated> finished, written;
  answers_ = {};
  const std::vector<Request> asked = requests(number);
  std::vector<Evaluated> tried;
  if (std::vector<Candidate> candidates = ask(asked, finished); !candidates.empty())
    tried = batches_.run(std::move(candidates));
  for (int attempt = 0;; ++attempt) {
    std::vector<Evaluated> failed;
    for (Evaluated& one : tried) {
      finished.push_back(one);
      if (!one.trial.score && is_repairable(one.trial.outcome) && attempt < kRepairs && !over_)
        failed.push_back(std::move(one));
      else
        written.push_back(std::move(one));
    }
    if (failed.empty()) break;
    if (run_.interrupted() || run_.time_left().count() <= 0) {
      std::ranges::move(failed, std::back_inserter(written));
      break;
    }
    tried = repair(std::move(failed), asked, finished, written);
  }
  for (Evaluated& one : written) {
    for (Evaluated& point : batches_.tune_own(one, run_.options.width)) {
      if (point.trial.score && (!one.trial.score || *point.trial.score < *one.trial.score)) one.trial = point.trial;
      finished.push_back(std::move(point));
    }
  }
  reflect_on(written, state);
  return finished;
}

void WritingRounds::reflect_on(const std::vector<Evaluated>& written, RunState& state) {
  constexpr double kFaster = 0.99;
  for (const Evaluated& one : written) {
    const double before = history_.ratio_before(one.trial.candidate);
    faster_.push_back(one.trial.score && *one.trial.score < before * kFaster);
    state.written_failed.push_back(!one.trial.score.has_value());
    answers_.compiled += static_cast<int>(has_compiled(one.trial.outcome));
    answers_.passed += static_cast<int>(has_passed(one.trial));
    keep_lessons(run_.options.bench.state_folder, {one.trial}, before, pattern_, features_of(run_.context.spec));
  }
  for (const auto& [problem, times] : answers_.lost) {
    state.written_failed.insert(state.written_failed.end(), static_cast<std::size_t>(times), true);
    faster_.insert(faster_.end(), static_cast<std::size_t>(times), false);
  }
  run_.progress.on_event(Answered{answers_});
  state.answers += answers_;
  state.spent = spent_;
  if (!proposers_.budget) return;
  state.usage = proposers_.budget->used();
  if (std::string why; proposers_.budget->exhausted(&why)) state.spent = why;
}

}  // namespace kagent::loop
