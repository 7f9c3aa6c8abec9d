// SPDX-License-Identifier: Apache-2.0
#include "loop/measurement.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "loop/fake_runner.h"
#include "util/files.h"

namespace kagent::loop {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class Measurement : public testing::Test {
 protected:
  Measurement() {
    runner_.programs = {{"a", {}}, {"b", {}}};
    options_.limits.cpus = {0};
    options_.lane = lane_.path();
    options_.seed = 11;
  }
  Result<Measured> run() { return measure(runner_, spec_, FakeRunner::binary("a"), FakeRunner::binary("b"), options_); }

  KernelSpec spec_ = doubling_spec();
  FakeRunner runner_;
  util::TemporaryFolder lane_{"lane"};  // not to wait for what is measured in earnest
  MeasurementOptions options_;
};

TEST_F(Measurement, AcceptsAFasterProgramAfterFourPairs) {
  runner_.programs["b"].call_ns = 0.8e6;
  const Measured measured = run().value();
  EXPECT_EQ(measured.outcome, Outcome::ok);
  EXPECT_TRUE(measured.decision.accepted) << measured.decision.reason;
  EXPECT_NEAR(measured.decision.ratio, 0.8, 0.01);
  EXPECT_EQ(measured.decision.cases[0].pairs, 4);
}

TEST_F(Measurement, SaysWhatMayHaveDisturbedIt) {
  runner_.programs["b"].call_ns = 0.8e6;
  DeviceState state;
  state.throttle_reasons = 1;  // idle just before
  runner_.programs["a"].device_state = runner_.programs["b"].device_state = state;
  EXPECT_THAT(run().value().decision.reason, Not(HasSubstr("samples"))) << "nothing did";

  state.other_processes = 2;
  runner_.programs["a"].device_state = state;
  const Measured measured = run().value();
  EXPECT_TRUE(measured.decision.accepted);
  const DeviceConditions& conditions = measured.samples.conditions;
  EXPECT_EQ(conditions.looks, 2 * conditions.shared);
  EXPECT_THAT(measured.decision.reason, EndsWith(fmt::format("; other programs had the GPU open in {} of {} samples",
                                                             conditions.shared, conditions.looks)));
}

TEST(DeviceConditions, TellWhatHoldsForAQuarterOfTheSamples) {
  EXPECT_EQ(DeviceConditions{}.text(), "");
  EXPECT_EQ((DeviceConditions{.looks = 96, .throttled = 23, .shared = 23}).text(), "");
  EXPECT_EQ(
      (DeviceConditions{.looks = 96, .throttled = 24, .shared = 96}).text(),
      "other programs had the GPU open in 96 of 96 samples, heat or power held its clocks down in 24 of 96 samples");
  DeviceConditions all;
  DeviceState hot;
  hot.throttle_reasons = 0x20;
  all.add(hot);
  all.add(all);
  EXPECT_EQ(all.text(), "heat or power held its clocks down in 2 of 2 samples");
}

TEST_F(Measurement, SwapsTheOrderOfStartFromPairToPair) {
  runner_.programs["b"].call_ns = 0.8e6;
  ASSERT_TRUE(run());
  EXPECT_THAT(runner_.started, ElementsAre("a", "a", "b", "b", "a", "a", "b", "b", "a")) << "planning, then four pairs";
}

TEST_F(Measurement, CallsTheSameProgramTheSame) {
  const Measured measured = run().value();
  EXPECT_EQ(measured.decision.comparison, Comparison::same) << measured.decision.reason;
  EXPECT_FALSE(measured.decision.accepted);
}

TEST_F(Measurement, NeverAcceptsUnderHalfAPercentHoweverLowTheUserSetsIt) {
  runner_.programs["b"].call_ns = 0.997e6;
  runner_.programs["a"].noise = runner_.programs["b"].noise = 1e-5;
  options_.policy.min_gain = 0;
  EXPECT_FALSE(run().value().decision.accepted);
}

TEST_F(Measurement, RefusesAGainThatOnlyTheProgramsOwnClockShows) {
  runner_.programs["b"].clock_factor = 0.7;
  const Measured measured = run().value();
  EXPECT_EQ(measured.outcome, Outcome::policy_violation);
  EXPECT_THAT(measured.detail, HasSubstr("training: the driver's clock disagrees"));
}

TEST_F(Measurement, GivesACandidatesFailureInTheMiddleAsItsOutcome) {
  runner_.programs["b"].fails_at_sample = 5;
  runner_.programs["b"].failure = Outcome::timed_out;
  const Measured measured = run().value();
  EXPECT_EQ(measured.outcome, Outcome::timed_out);
  EXPECT_FALSE(measured.decision.accepted);
}

TEST_F(Measurement, GivesTheIncumbentsFailureAsAnError) {
  runner_.programs["a"].fails_at_sample = 8;
  EXPECT_THAT(run().error().message, HasSubstr("the incumbent failed"));
}

TEST_F(Measurement, EndsWhenInterrupted) {
  options_.interrupted = [this] { return runner_.started.size() > 3; };
  const Measured measured = run().value();
  EXPECT_TRUE(measured.interrupted);
  EXPECT_LT(runner_.started.size(), 8U);
}

TEST_F(Measurement, DecidesNothingWithoutTimeForFourPairs) {
  runner_.programs["b"].call_ns = 0.5e6;
  options_.budget = std::chrono::milliseconds(0);
  const Measured measured = run().value();
  EXPECT_EQ(measured.decision.comparison, Comparison::ambiguous);
  EXPECT_THAT(measured.decision.reason, HasSubstr("the time budget ended the measurement"));
}

TEST_F(Measurement, ReportsEachPairAndTheLookItIsFor) {
  runner_.programs["b"].call_ns = 0.8e6;
  std::vector<std::pair<int, int>> seen;
  options_.progress = [&](int pair, int pairs) { seen.emplace_back(pair, pairs); };
  ASSERT_TRUE(run());
  EXPECT_THAT(seen, ElementsAre(std::pair(1, 4), std::pair(2, 4), std::pair(3, 4), std::pair(4, 4)));
}

TEST_F(Measurement, RunsEveryProcessWhereTheOptionsSay) {
  options_.limits.cpus = {0};
  ASSERT_TRUE(run());
  for (const std::vector<int>& cpus : runner_.cpus) EXPECT_THAT(cpus, ElementsAre(0));
}

}  // namespace
}  // namespace kagent::loop
