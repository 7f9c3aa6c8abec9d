// SPDX-License-Identifier: Apache-2.0
#include "loop/duel.h"

#include <gmock/gmock.h>

#include "loop/fake_runner.h"

namespace kagent::loop {
namespace {

using testing::HasSubstr;

class DuelTest : public testing::Test {
 protected:
  Sampled<DuelSamples> run(const DuelLength& length) {
    auto incumbent = runner_.start(FakeRunner::binary("a"), spec_.parameters, {}).value();
    auto candidate = runner_.start(FakeRunner::binary("b"), spec_.parameters, {}).value();
    auto contents = FreshContents::make(spec_, spec_.cases[0], 1).value();
    const CasePlan plan{.timed = &spec_.cases[0], .repetitions = 3, .slots = 6, .cold = false};
    return Duel(spec_, plan, contents, *incumbent, *candidate, random_, interrupted_).run(length);
  }

  KernelSpec spec_ = doubling_spec();
  FakeRunner runner_;
  std::mt19937_64 random_{7};
  std::function<bool()> interrupted_;
  const DuelLength short_{
      .warm_up = std::chrono::milliseconds(0), .time = std::chrono::milliseconds(0), .least = 8, .most = 8};
};

TEST_F(DuelTest, SamplesInBlocksOfAbbaOrBaab) {
  runner_.programs = {{"a", {}}, {"b", {}}};
  const auto samples = run(short_);
  ASSERT_TRUE(samples);
  EXPECT_EQ(samples->times.incumbent_ns.size(), 16U);
  EXPECT_EQ(samples->times.candidate_ns.size(), 16U);
  EXPECT_EQ(samples->clocks.size(), 16U);
  std::set<std::string> blocks;
  const std::vector<std::string>& order = runner_.sampled;
  ASSERT_EQ(order.size(), 2 + 8 * 4U) << "one warm-up each, then eight blocks";
  for (std::size_t i = 2; i < order.size(); i += 4)
    blocks.insert(order[i] + order[i + 1] + order[i + 2] + order[i + 3]);
  EXPECT_THAT(blocks, testing::UnorderedElementsAre("abba", "baab"));
}

TEST_F(DuelTest, GivesTheTimeOfOneCall) {
  runner_.programs = {{"a", {.call_ns = 2e6, .noise = 0}}, {"b", {.call_ns = 1e6, .noise = 0}}};
  const auto samples = run(short_);
  EXPECT_NEAR(samples->times.incumbent_ns[0], 2e6, 1);
  EXPECT_NEAR(samples->times.candidate_ns[0], 1e6, 1);
}

TEST_F(DuelTest, TimesNoContentsTwiceInOneProcess) {
  runner_.programs = {{"a", {}}, {"b", {}}};
  ASSERT_TRUE(run(short_));
  for (const auto& contents : runner_.seen) EXPECT_LE(runner_.seen.count(contents), 2U) << "once by each program";
}

TEST_F(DuelTest, CatchesAProgramThatAnswersFromMemoryWhenTimed) {
  runner_.programs = {{"a", {}}, {"b", {.remembers_by_slot = true}}};
  const auto samples = run(short_);
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().outcome, Outcome::wrong_result);
  EXPECT_THAT(samples.error().detail, HasSubstr("in a timed call: training: y["));
}

TEST_F(DuelTest, LooksAtATimedCallAtLeastOnce) {
  runner_.programs = {{"a", {}}, {"b", {.remembers_by_slot = true}}};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    random_.seed(seed);
    // One block after a warm-up on the same slots: whatever is looked at is stale, if it is looked at.
    const CasePlan all_slots{.timed = &spec_.cases[0], .repetitions = 3, .slots = 3, .cold = false};
    auto incumbent = runner_.start(FakeRunner::binary("a"), spec_.parameters, {}).value();
    auto candidate = runner_.start(FakeRunner::binary("b"), spec_.parameters, {}).value();
    auto contents = FreshContents::make(spec_, spec_.cases[0], 1).value();
    EXPECT_FALSE(Duel(spec_, all_slots, contents, *incumbent, *candidate, random_, interrupted_)
                     .run({.warm_up = std::chrono::milliseconds(0),
                           .time = std::chrono::milliseconds(0),
                           .least = 1,
                           .most = 1}));
  }
}

TEST_F(DuelTest, GivesACandidatesDeathAsItsOutcome) {
  runner_.programs = {{"a", {}}, {"b", {.fails_at_sample = 4}}};
  const auto samples = run(short_);
  ASSERT_FALSE(samples);
  EXPECT_FALSE(samples.error().error);
  EXPECT_EQ(samples.error().outcome, Outcome::crashed);
  EXPECT_EQ(samples.error().detail, "training: SIGSEGV");
}

TEST_F(DuelTest, GivesTheIncumbentsDeathAsAnErrorNotTheCandidates) {
  runner_.programs = {{"a", {.fails_at_sample = 4}}, {"b", {}}};
  const auto samples = run(short_);
  ASSERT_FALSE(samples);
  EXPECT_TRUE(samples.error().error);
}

TEST_F(DuelTest, RefusesAClockThatRanLongerThanTheDriverWaited) {
  runner_.programs = {{"a", {}}, {"b", {.clock_factor = 1.1}}};
  const auto samples = run(short_);
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().outcome, Outcome::policy_violation);
}

TEST_F(DuelTest, EndsBetweenBlocksWhenInterrupted) {
  runner_.programs = {{"a", {}}, {"b", {}}};
  interrupted_ = [this] { return runner_.sampled.size() > 10; };
  const auto samples = run(short_);
  ASSERT_FALSE(samples);
  EXPECT_TRUE(samples.error().interrupted);
  EXPECT_LT(runner_.sampled.size(), 15U);
}

}  // namespace
}  // namespace kagent::loop
