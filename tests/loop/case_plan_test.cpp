// SPDX-License-Identifier: Apache-2.0
#include "loop/case_plan.h"

#include <gtest/gtest.h>

#include "loop/fake_runner.h"

namespace kagent::loop {
namespace {

CasePlan plan_for(const KernelSpec& spec, double call_ns, double sweep_ns, MeasuredOn device = MeasuredOn::cpu) {
  FakeRunner runner;
  runner.programs["a"] = {.call_ns = call_ns, .sweep_ns = sweep_ns};
  auto session = runner.start(FakeRunner::binary("a"), spec.parameters, {}).value();
  auto contents = FreshContents::make(spec, spec.cases[0], 1).value();
  return plan_case(spec, spec.cases[0], *session, contents, device).value();
}

CasePlan plan_for(double call_ns, double sweep_ns) {
  return plan_for(doubling_spec(), call_ns, sweep_ns);
}

TEST(CasePlan, CallsALongKernelOnceASample) {
  const CasePlan plan = plan_for(5e6, 1e6);
  EXPECT_EQ(plan.repetitions, 1);
  EXPECT_EQ(plan.slots, 2);
}

TEST(CasePlan, RepeatsAShortKernelUntilTheSampleIsLongEnough) {
  EXPECT_EQ(plan_for(100e3, 100e3).repetitions, 6);
}

TEST(CasePlan, NeverTakesMoreSlotsThanARunnerHas) {
  const CasePlan plan = plan_for(100, 1e6);
  EXPECT_EQ(plan.repetitions, 32);
  EXPECT_EQ(plan.slots, 64);
}

TEST(CasePlan, SweepsTheCachesUnlessThatTakesTenTimesTheCall) {
  EXPECT_TRUE(plan_for(1e6, 5e6).cold);
  EXPECT_FALSE(plan_for(50e3, 5e6).cold);
}

TEST(CasePlan, TakesFewerSlotsForBuffersThatFillTheMemory) {
  KernelSpec spec = doubling_spec();
  spec.parameters[1].shape = {Expression::parse("n * 524288").value()};  // y: 128 MiB
  const CasePlan plan = plan_for(spec, 10e3, 0);
  EXPECT_EQ(plan.repetitions, 3);
  EXPECT_EQ(plan.slots, 3);
}

TEST(CasePlan, SendsLittleToADeviceForASample) {
  const KernelSpec spec = doubling_spec(4 << 20);  // x: 16 MiB
  EXPECT_EQ(plan_for(spec, 10e3, 0).repetitions, 16);
  const CasePlan plan = plan_for(spec, 10e3, 0, MeasuredOn::gpu);
  EXPECT_EQ(plan.repetitions, 4);
  EXPECT_EQ(plan.slots, 8);
}

TEST(CasePlan, SaysThatTheIncumbentFailedRatherThanTheCandidate) {
  const KernelSpec spec = doubling_spec();
  FakeRunner runner;
  runner.programs["a"] = {.fails_at_sample = 1};
  auto session = runner.start(FakeRunner::binary("a"), spec.parameters, {}).value();
  auto contents = FreshContents::make(spec, spec.cases[0], 1).value();
  const auto plan = plan_case(spec, spec.cases[0], *session, contents);
  ASSERT_FALSE(plan);
  ASSERT_TRUE(plan.error().error);
  EXPECT_EQ(plan.error().error->message,
            "the incumbent failed while it was measured on case training: crashed (SIGSEGV)");
}

}  // namespace
}  // namespace kagent::loop
