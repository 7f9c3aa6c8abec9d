// SPDX-License-Identifier: Apache-2.0
#include "loop/writing_rounds.h"

#include <atomic>
#include <deque>
#include <thread>

#include <gmock/gmock.h>

#include "loop/planted_project.h"
#include "loop/tuning.h"
#include "store/lesson_store.h"
#include "store/trial_store.h"

namespace kagent::loop {
namespace {

using proposer::model::ChatError;
using proposer::model::ChatErrorKind;
using ::testing::Contains;
using ::testing::HasSubstr;

const std::function<bool()> kNever = [] { return false; };

constexpr const char* kHead = "#include \"scale.h\"\n";
constexpr const char* kFast =
    "#include \"scale.h\"\n"
    "void scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }\n";
constexpr const char* kBroken =
    "#include \"scale.h\"\nvoid scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = "
    "undeclared(x[i]); }\n";

Candidate written(const std::string& source) {
  Candidate candidate;
  candidate.source = source;
  candidate.proposer = "fake";
  candidate.hypothesis = "less work";
  candidate.change = "another loop";
  candidate.expected_speedup = 2;
  return candidate;
}

// A fake: says what it is told to say.
class FakeWritingProposer : public proposer::WritingProposer {
 public:
  std::string name() const override { return "fake"; }
  Result<std::vector<Candidate>> propose(const proposer::Proposal& proposal, int) override {
    briefs.push_back(*proposal.brief);
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
    if (repairs.empty()) return std::nullopt;
    Candidate next = repairs.front();
    repairs.pop_front();
    return next;
  }
  const proposer::WritingRecord& record() const override { return record_; }
  proposer::model::ChatRequest preview(const proposer::Proposal&, int) const override { return {}; }

  std::deque<std::vector<Candidate>> answers;
  std::deque<Candidate> repairs;
  std::optional<ChatError> error;
  std::function<void()> before_answering;
  std::atomic<int> asked{0};
  std::vector<Brief> briefs;
  std::vector<FailedCandidate> repaired;

 private:
  proposer::WritingRecord record_;
};

class WritingRoundsTest : public ::testing::Test {
 protected:
  WritingRoundsTest() : fake_(new FakeWritingProposer) {
    options_.bench.runtime = KAGENT_RUNTIME;
    options_.bench.state_folder = project_.variants().state_folder();
    options_.bench.allow_unsandboxed = !util::sandbox_state().available;
    options_.rounds = 1;
    options_.width = 2;
    options_.time_budget = std::chrono::seconds(300);
    options_.proposer.name = "fake";
    options_.proposers = [this](const ProposerChoice&, const proposer::model::GiveUp& give_up) {
      give_up_ = give_up;
      Proposers proposers;
      proposers.writing.reset(fake_);
      return proposers;
    };
  }
  TuningResult run() {
    store::VariantStore variants = project_.variants();
    const build_step::KernelContext context = project_.context();
    return require(tune(context, variants, options_, observer_, kNever));
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
};

TEST_F(WritingRoundsTest, a_written_candidate_is_kept_with_what_was_expected_and_measured) {
  fake_->answers = {{written(kFast)}};
  std::vector<Brief> briefs;
  fake_->before_answering = [&] { briefs = fake_->briefs; };
  const TuningResult result = run();
  ASSERT_TRUE(result.variant) << result.reason;
  int of_fake = 0;
  for (const Trial& trial : trials()) {
    if (trial.candidate.proposer != "fake") continue;
    ++of_fake;
    EXPECT_LT(trial.score.value_or(1), 0.6) << trial.detail;
    EXPECT_THAT(trial.reflection, HasSubstr("expected 2.00x over its parent, measured"));
  }
  EXPECT_EQ(of_fake, 1);
  ASSERT_EQ(briefs.size(), 1u);
  EXPECT_EQ(briefs[0].parent.hash, "");
  ASSERT_EQ(briefs[0].cases.size(), 1u);
  EXPECT_GT(briefs[0].cases[0].baseline_ns, 0);
  ASSERT_EQ(briefs[0].bottlenecks.size(), 1u);
  EXPECT_EQ(briefs[0].bottlenecks[0].case_name, "large");
  const auto lessons =
      require(require(store::LessonStore::open(options_.bench.state_folder / "trials.sqlite")).lessons(5));
  ASSERT_EQ(lessons.size(), 1u);
  EXPECT_EQ(lessons[0].change, "another loop");
  EXPECT_LT(lessons[0].effect, 0.6);
}

TEST_F(WritingRoundsTest, the_search_measures_while_an_answer_is_waited_for) {
  fake_->answers = {{written(kFast)}};
  fake_->before_answering = [this] {
    // Answers only once the search has measured all of its space.
    auto store = require(store::TrialStore::open(options_.bench.state_folder / "trials.sqlite"));
    while (require(store.recent("scale", 10)).size() < 4) std::this_thread::yield();
  };
  run();
  int searched = 0;
  for (const Trial& trial : trials()) searched += trial.candidate.proposer == "search";
  EXPECT_GE(searched, 4);
}

TEST_F(WritingRoundsTest, a_failure_is_given_back_at_most_twice_with_its_distilled_error) {
  fake_->answers = {{written(kBroken)}};
  fake_->repairs = {written(std::string(kHead) + "void scale(const float* x, float* y, int n) "
                                                 "{ for (int i = 0; i < n; ++i) y[i] = 3 * x[i]; }\n"),
                    written(kFast)};
  const TuningResult result = run();
  ASSERT_TRUE(result.variant) << result.reason;
  std::vector<Outcome> outcomes;
  for (const Trial& trial : trials())
    if (trial.candidate.proposer == "fake") outcomes.push_back(trial.outcome);
  EXPECT_THAT(outcomes, testing::ElementsAre(Outcome::compile_failed, Outcome::wrong_result, Outcome::ok));
}

TEST_F(WritingRoundsTest, tunables_that_a_candidate_brings_are_searched_within_the_round) {
  Candidate candidate = written(
      "#include \"scale.h\"\n"
      "void scale(const float* x, float* y, int n) {\n"
      "  constexpr int steps = STEPS;\n"
      "  for (int i = 0; i < n; ++i) {\n"
      "    float value = x[i];\n"
      "    for (int k = 1; k < steps; ++k) {\n"
      "      volatile float kept = value;\n"
      "      value = kept;\n"
      "    }\n"
      "    y[i] = 2 * value;\n"
      "  }\n"
      "}\n");
  candidate.own_tunables = {{"STEPS", {60, 30, 1}}};
  fake_->answers = {{candidate}};
  const TuningResult result = run();
  ASSERT_TRUE(result.variant) << result.reason;
  double best = 10;
  std::int64_t steps = 0;
  for (const Trial& trial : trials())
    if (trial.candidate.tunables.contains("STEPS") && trial.score && *trial.score < best)
      best = *trial.score, steps = trial.candidate.tunables.at("STEPS");
  EXPECT_EQ(steps, 1);
}

TEST_F(WritingRoundsTest, a_provider_that_is_down_leaves_the_search_alone_and_says_so_once) {
  fake_->error = ChatError{.kind = ChatErrorKind::unauthorized, .message = "no such key"};
  options_.rounds = 3;
  const TuningResult result = run();
  ASSERT_TRUE(result.variant) << result.reason;
  EXPECT_EQ(result.variant->evidence.proposer, "search");
  int told = 0;
  for (const std::string& text : warnings()) told += text.find("the search goes on alone") != std::string::npos;
  EXPECT_EQ(told, 1);
  EXPECT_THAT(warnings(), Contains(HasSubstr("no such key")));
}

TEST_F(WritingRoundsTest, what_cannot_be_configured_leaves_the_search_alone_and_says_why) {
  delete fake_;
  options_.proposers = [](const ProposerChoice&, const proposer::model::GiveUp&) {
    Proposers none;
    none.alone_because = "no model is configured";
    return none;
  };
  options_.rounds = 3;
  ASSERT_TRUE(run().variant);
  EXPECT_THAT(warnings(), Contains(HasSubstr("no model is configured")));
}

TEST_F(WritingRoundsTest, answers_that_bring_nothing_do_not_end_a_run_that_has_rounds_left) {
  options_.rounds = 2;
  fake_->answers = {{}, {written(kFast)}};
  const TuningResult result = run();
  EXPECT_TRUE(result.variant) << result.reason;
  EXPECT_THAT(result.reason, HasSubstr("all 2 rounds"));
}

}  // namespace
}  // namespace kagent::loop
