// SPDX-License-Identifier: Apache-2.0
#include "loop/evaluation.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <fmt/core.h>

#include "gate/change.h"
#include "gate/gate.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace kagent::loop {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// Policy first: what may not be there at all. Then what the rules say of the change.
std::vector<gate::Rejection> rejections_of(const Workbench& bench, const Candidate& candidate,
                                           const SourceOf& source_of) {
  const build_step::KernelContext& context = bench.context();
  auto rejections = gate::inspect(candidate, context.source_text, bench.spec(), context.request.language);
  if (!rejections.empty()) return rejections;
  const std::string* parent = candidate.parent.empty() ? nullptr : source_of(candidate.parent);
  const std::string* second = candidate.second_parent.empty() ? nullptr : source_of(candidate.second_parent);
  return gate::inspect_change(candidate, {context.source_text, parent ? *parent : context.source_text, second},
                              bench.spec());
}

Result<Evaluated> evaluate_one(Workbench& bench, const Candidate& candidate,
                               const std::map<std::string, Trial>& known_objects, const SourceOf& source_of) {
  Evaluated evaluated;
  Trial& trial = evaluated.trial;
  trial.kernel = bench.context().request.kernel;
  trial.architecture = bench.context().architecture;
  trial.key = bench.context().key.hash();
  trial.candidate = candidate;
  trial.candidate_hash = candidate_hash(candidate, bench.context().request);
  trial.started = util::utc_now();

  const auto rejections = rejections_of(bench, candidate, source_of);
  if (!rejections.empty()) {
    trial.outcome = Outcome::gate_rejected;
    trial.detail = fmt::format("{}: line {}: {}", rejections[0].rule, rejections[0].line, rejections[0].message);
    constexpr std::size_t kMostShown = 8;  // of thousands; correcting these shows the rest
    for (std::size_t i = 0; i < rejections.size() && i < kMostShown; ++i)
      evaluated.diagnostics +=
          fmt::format("{}: line {}: {}\n", rejections[i].rule, rejections[i].line, rejections[i].message);
    return evaluated;
  }

  auto compiled = bench.compile(candidate);
  if (!compiled) return std::unexpected(compiled.error());
  trial.compile_s = std::chrono::duration<double>(compiled->duration).count();
  if (compiled->outcome != Outcome::ok) {
    trial.outcome = compiled->outcome;
    evaluated.diagnostics = compiled->diagnostics;
    trial.detail = util::clean(first_line(compiled->diagnostics), 500);
    return evaluated;
  }
  evaluated.binary = compiled->binary;
  trial.object_hash = compiled->binary.object_hash;
  if (auto known = known_objects.find(trial.object_hash); known != known_objects.end()) {
    trial.outcome = Outcome::duplicate;
    trial.detail = fmt::format("the same program as trial {}", known->second.id);
    trial.score = known->second.score;
    return evaluated;
  }

  const auto start = Clock::now();
  auto report = bench.suite().verify(compiled->binary, bench.runner());
  if (!report) return std::unexpected(report.error());
  trial.verify_s = seconds_since(start);
  trial.outcome = report->outcome;
  trial.detail = util::clean(first_line(report->detail), 500);
  if (report->outcome != Outcome::ok) evaluated.diagnostics = util::clean(report->detail, 4000);
  for (const auto& [output, error] : report->max_error_over_bound)
    trial.error_over_bound = std::max(trial.error_over_bound.value_or(0), error);
  evaluated.max_error_over_bound = std::move(report->max_error_over_bound);
  return evaluated;
}

}  // namespace

std::string candidate_hash(const Candidate& candidate, const KernelRequest& request) {
  return util::sha256(render(candidate, request.source.filename().string()));
}

Result<std::vector<Evaluated>> evaluate(Workbench& bench, const std::vector<Candidate>& candidates,
                                        const std::map<std::string, Trial>& known_objects, const SourceOf& source_of,
                                        const std::function<void(const Evaluated&)>& finished,
                                        const std::function<bool()>& interrupted) {
  if (candidates.empty()) return std::vector<Evaluated>{};
  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<Result<Evaluated>> results;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};

  auto work = [&] {
    for (std::size_t i = next++; i < candidates.size() && !stop; i = next++) {
      auto result = evaluate_one(bench, candidates[i], known_objects, source_of);
      std::lock_guard lock(mutex);
      results.push_back(std::move(result));
      arrived.notify_one();
    }
  };
  const std::size_t workers = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, candidates.size());
  std::size_t running = workers;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < workers; ++i)
    threads.emplace_back([&] {
      work();
      std::lock_guard lock(mutex);
      --running;
      arrived.notify_one();
    });

  std::vector<Evaluated> evaluated;
  std::optional<StageError> error;
  // Woken also without news, to notice an interruption while a long compile runs.
  constexpr std::chrono::milliseconds kPoll{100};
  for (std::unique_lock lock(mutex); running > 0 || !results.empty();) {
    arrived.wait_for(lock, kPoll, [&] { return !results.empty() || running == 0; });
    if (interrupted()) stop = true;
    while (!results.empty()) {
      Result<Evaluated> result = std::move(results.front());
      results.pop_front();
      lock.unlock();
      if (!result) {
        error = result.error();
        stop = true;
      } else {
        // Two equal programs in one batch: the first to arrive counts.
        for (const Evaluated& earlier : evaluated)
          if (result->trial.outcome == Outcome::ok && earlier.trial.object_hash == result->trial.object_hash) {
            result->trial.outcome = Outcome::duplicate;
            result->trial.detail = "the same program as another one of this round";
          }
        finished(*result);
        evaluated.push_back(std::move(*result));
      }
      lock.lock();
    }
  }
  if (error) return std::unexpected(*error);
  return evaluated;
}

}  // namespace kagent::loop
