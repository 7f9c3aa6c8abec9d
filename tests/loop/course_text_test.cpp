// SPDX-License-Identifier: Apache-2.0
#include "loop/course_text.h"

#include <gmock/gmock.h>

#include "judge/judge.h"

namespace kagent::loop {
namespace {

using ::testing::HasSubstr;

// Twice as fast in every pair, which no rule doubts.
Measured plainly_faster() {
  Measured measured;
  MeasuredSamples& samples = measured.samples;
  samples.policy.looks = {8};
  samples.cases = {{"large", 1}};
  samples.conditions = {.looks = 64, .throttled = 0, .shared = 64};
  for (int pair = 0; pair < 8; ++pair) {
    const double noise = pair % 2 == 0 ? 1.0 : 1.001;
    samples.pairs.push_back({{{1000 * noise, 1001, 1002, 1003}, {500, 500.5 * noise, 501, 501.5}}});
  }
  measured.decision = decided(samples);
  return measured;
}

TEST(CourseText, an_analysis_comes_back_with_what_the_machine_code_shows) {
  AnalysisFound found;
  found.baseline_times = {{"large", 1, 1200, 1200}};
  Bottleneck one;
  one.case_name = "large";
  one.tier = "static";
  one.time_ns = 1200;
  one.roofline_share = 0.25;
  one.code = "12 instructions: 50 % fp32";
  one.code_reason = "without the places in the source";
  one.lines = {"line 3: 4 instructions", "line 5: 2 instructions"};
  one.kernels = {"softmax: 80 % of the time on the device", "fill: 20 % of the time on the device"};
  one.metrics = {{"registers", 32, "1"}};
  one.patterns = {{"register-spills", 0.5, "8 bytes", "fewer registers", "the guide"}};
  found.bottlenecks = {one};
  std::string parent;
  const AnalysisFound back = read_analysis(course_line("abc", found), parent);
  EXPECT_EQ(parent, "abc");
  EXPECT_EQ(course_line(parent, back), course_line("abc", found));
  ASSERT_EQ(back.bottlenecks.size(), 1u);
  EXPECT_EQ(back.bottlenecks[0].code, one.code);
  EXPECT_EQ(back.bottlenecks[0].code_reason, one.code_reason);
  EXPECT_EQ(back.bottlenecks[0].lines, one.lines);
  EXPECT_EQ(back.bottlenecks[0].kernels, one.kernels);
}

TEST(CourseText, an_incumbent_comes_back_with_the_roofs_that_shares_are_of) {
  IncumbentFound found;
  found.reference = "kagent/scale/x86-64/g001-0123abcd";
  found.ratio = 0.25;
  found.ceilings = {.flops_per_s = 6e13,
                    .bytes_per_s = 4.2e12,
                    .half_flops_per_s = 1.2e14,
                    .tensor_flops_per_s = 6.4e14,
                    .launch_s = 2.7e-6};
  for (const std::optional<double> share : {std::optional<double>(0.1 + 0.2), std::optional<double>()}) {
    found.roofline_share = share;
    const IncumbentFound back = read_incumbent(course_line(found));
    EXPECT_EQ(back.roofline_share, share);
    EXPECT_EQ(back.ceilings.bytes_per_s, 4.2e12);
    EXPECT_EQ(back.ceilings.launch_s, 2.7e-6);
    EXPECT_EQ(course_line(back), course_line(found));
  }
}

TEST(CourseText, a_finalist_that_the_sanitizer_refused_was_faster_and_is_not_accepted) {
  JudgedFinalist judged;
  judged.outcome = Outcome::sanitizer_error;
  judged.detail = "compute-sanitizer racecheck: 1 error";
  judged.measured = {plainly_faster(), plainly_faster()};
  ASSERT_TRUE(judged.measured[0].decision.accepted) << judged.measured[0].decision.reason;
  std::string candidate;
  const JudgedFinalist back = read_judged(course_line("abc", judged), candidate);
  EXPECT_EQ(candidate, "abc");
  EXPECT_EQ(back.outcome, Outcome::sanitizer_error);
  EXPECT_FALSE(back.variant);
}

TEST(CourseText, an_acceptance_that_the_samples_show_may_not_be_left_out) {
  JudgedFinalist judged;
  judged.outcome = Outcome::slower;
  judged.measured = {plainly_faster(), plainly_faster()};
  std::string candidate;
  try {
    read_judged(course_line("abc", judged), candidate);
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("leaves out an acceptance"));
  }
}

}  // namespace
}  // namespace kagent::loop
