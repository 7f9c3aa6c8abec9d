// SPDX-License-Identifier: Apache-2.0
// Real programs in real processes, measured: honest ones, and ones that are right only until they think that they are
// being timed (numbers: the list in docs/measuring.md).
#include <gmock/gmock.h>

#include "loop/measurement.h"
#include "runner/runner.h"
#include "util/files.h"

namespace kagent::loop {
namespace {

using testing::AnyOf;
using testing::Eq;
using testing::HasSubstr;

KernelSpec timed_spec() {
  KernelSpec spec;
  spec.kernel = "timed";
  spec.entry = "timed";
  const Expression extent = Expression::parse("n").value();
  spec.parameters = {{"x", ParameterKind::input, DType::float32, {extent}, 0},
                     {"y", ParameterKind::output, DType::float32, {extent}, 0},
                     {"n", ParameterKind::size, DType::int32, {}, 0}};
  Case timed;
  timed.name = "training";
  timed.sizes = {{"n", 100'000}};
  timed.timed = true;
  spec.cases = {timed};
  spec.tolerance["y"].rtol = 1.3e-6;
  return spec;
}

Binary program(const std::string& name) {
  return {std::filesystem::path(KAGENT_TIMED_CANDIDATES) / ("kagent_timed_" + name), name, "timed"};
}

class TimedCheats : public testing::Test {
 protected:
  Measured measured(const std::string& candidate) {
    MeasurementOptions options;
    options.limits.allow_unsandboxed = true;
    options.lane = lane_.path();
    options.seed = 5;
    const auto result = measure(*runner_, spec_, program("honest_3"), program(candidate), options);
    EXPECT_TRUE(result) << result.error().message;
    return result.value_or(Measured{});
  }

  KernelSpec spec_ = timed_spec();
  util::TemporaryFolder lane_{"lane"};  // not to wait for what is measured in earnest
  std::unique_ptr<runner::Runner> runner_ = runner::make_host_runner();
};

TEST_F(TimedCheats, AreNotSeenInAProgramThatIsThreeTimesFaster) {
  const Measured result = measured("honest_1");
  EXPECT_EQ(result.outcome, Outcome::ok) << result.detail;
  EXPECT_TRUE(result.decision.accepted) << result.decision.reason;
}

TEST_F(TimedCheats, AnAnswerByAddressIsAWrongResult) {
  const Measured result = measured("remembers_addresses");
  EXPECT_EQ(result.outcome, Outcome::wrong_result) << result.decision.reason;
  EXPECT_THAT(result.detail, HasSubstr("in a timed call: training: y["));
}

TEST_F(TimedCheats, AnAnswerByAFewElementsIsAWrongResult) {
  EXPECT_EQ(measured("remembers_a_sample").outcome, Outcome::wrong_result);
}

TEST_F(TimedCheats, AnOutputThatIsNoLongerWrittenIsAWrongResult) {
  EXPECT_EQ(measured("stops_writing").outcome, Outcome::wrong_result);
}

TEST_F(TimedCheats, HalfTheWorkIsAWrongResult) {
  EXPECT_EQ(measured("skips_half").outcome, Outcome::wrong_result);
}

TEST_F(TimedCheats, LessPrecisionWhenTimedIsAWrongResult) {
  EXPECT_EQ(measured("loses_precision").outcome, Outcome::wrong_result);
}

TEST_F(TimedCheats, AnInputThatIsOverwrittenIsAWrongResult) {
  // Which of the two is seen first depends on whether inputs are write-protected.
  EXPECT_THAT(measured("overwrites_its_input").outcome, AnyOf(Eq(Outcome::wrong_result), Eq(Outcome::crashed)));
}

TEST_F(TimedCheats, ADeathInTheMiddleIsTheCandidatesOutcome) {
  const Measured result = measured("dies");
  EXPECT_EQ(result.outcome, Outcome::crashed);
  EXPECT_FALSE(result.decision.accepted);
}

TEST_F(TimedCheats, CostARaceOnlyTheCheat) {
  MeasurementOptions options;
  options.limits.allow_unsandboxed = true;
  options.lane = lane_.path();
  options.seed = 5;
  const auto raced = race(*runner_, spec_, program("honest_3"), {program("dies"), program("honest_1")}, options);
  ASSERT_TRUE(raced) << raced.error().message;
  EXPECT_EQ((*raced)[0].outcome, Outcome::crashed);
  EXPECT_EQ((*raced)[1].outcome, Outcome::ok);
  EXPECT_GT((*raced)[1].samples, 0);
}

}  // namespace
}  // namespace kagent::loop
