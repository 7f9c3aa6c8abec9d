// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "loop/planted_project.h"
#include "loop/tuning_options.h"
#include "store/trial_store.h"
#include "util/sandbox.h"

namespace kagent::loop {

inline const std::function<bool()> kNever = [] { return false; };

inline constexpr const char* kHead = "#include \"scale.h\"\n";
inline constexpr const char* kFast =
    "#include \"scale.h\"\n"
    "void scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }\n";
inline constexpr const char* kBroken =
    "#include \"scale.h\"\nvoid scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = "
    "undeclared(x[i]); }\n";

inline Candidate written(const std::string& source) {
  Candidate candidate;
  candidate.source = source;
  candidate.proposer = "fake";
  candidate.hypothesis = "less work";
  candidate.change = "another loop";
  candidate.expected_speedup = 2;
  candidate.usage.input_tokens = 100;
  return candidate;
}

// A fake: says what it is told to say.
class FakeWritingProposer : public proposer::WritingProposer {
 public:
  std::string name() const override { return "fake"; }
  Result<std::vector<Candidate>> propose(const proposer::Proposal& proposal, int width) override {
    briefs.push_back(*proposal.brief);
    widths.push_back(width);
    ++asked;
    if (before_answering) before_answering();
    record_.error.reset();
    if (error) {
      record_.error = *error;
      return failure("down");
    }
    if (answers.empty()) return std::vector<Candidate>{};
    auto answer = answers.front();
    answers.pop_front();
    return answer;
  }
  Result<std::optional<Candidate>> repair(const proposer::Proposal&, const FailedCandidate& failed) override {
    repaired.push_back(failed);
    if (repairs.empty() || failed.candidate.change == loses) return std::nullopt;
    Candidate next = repairs.front();
    repairs.pop_front();
    return next;
  }
  const proposer::WritingRecord& record() const override { return record_; }
  proposer::model::ChatRequest preview(const proposer::Proposal&, int) const override { return {}; }

  std::deque<std::vector<Candidate>> answers;
  std::deque<Candidate> repairs;
  std::string loses;  // the change of candidates that it has no correction of
  std::optional<proposer::model::ChatError> error;
  std::function<void()> before_answering;
  std::atomic<int> asked{0};
  std::vector<Brief> briefs;
  std::vector<int> widths;
  std::vector<FailedCandidate> repaired;

 private:
  proposer::WritingRecord record_;
};

class WritingRoundsTest : public ::testing::Test {
 protected:
  WritingRoundsTest() : fake_(new FakeWritingProposer) {
    options_ = tuning_options(project_.variants());
    options_.rounds = 1;
    options_.width = 2;
    options_.time_budget = std::chrono::seconds(300);
    options_.proposer.name = "fake";
    options_.proposers = [this](const ProposerChoice&, const proposer::model::GiveUp& give_up) {
      give_up_ = give_up;
      Proposers proposers;
      proposers.writing.reset(fake_);
      proposers.budget = budget_;
      return proposers;
    };
  }
  TuningResult run() {
    store::VariantStore variants = project_.variants();
    const build_step::KernelContext context = project_.context();
    return require(tune(context, variants, options_, observer_, kNever));
  }
  // Nothing for the search to try; and little of the roofline is enough.
  void without_tunables() {
    project_.write("golden/scale/kernel.json", R"({
  "kernel": "scale", "style": "launcher", "entry": "scale",
  "parameters": [
    {"name": "x", "kind": "input", "dtype": "float32", "shape": ["n"]},
    {"name": "y", "kind": "output", "dtype": "float32", "shape": ["n"]},
    {"name": "n", "kind": "size", "dtype": "int32"}
  ],
  "cases": [{"name": "large", "sizes": {"n": 20000}, "timed": true}],
  "reference": {"source": "reference.cpp", "function": "scale_reference"},
  "work": {"flops": "n", "bytes": "8*n"},
  "goal": {"roofline": 0.0001}
})");
  }
  std::vector<Trial> trials() {
    auto store = require(store::TrialStore::open(options_.bench.state_folder / "trials.sqlite"));
    const build_step::KernelContext context = project_.context();
    return require(store.trials("scale", context.architecture, context.key.hash()));
  }
  std::vector<std::string> warnings() const {
    std::vector<std::string> texts;
    for (const Warning& one : observer_.all<Warning>()) texts.push_back(one.text);
    return texts;
  }

  PlantedProject project_;
  RecordingObserver observer_;
  TuningOptions options_;
  FakeWritingProposer* fake_;  // owned by the run
  proposer::model::GiveUp give_up_;
  std::shared_ptr<proposer::model::Budget> budget_;  // null: none
};

}  // namespace kagent::loop
