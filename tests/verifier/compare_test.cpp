// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include <gmock/gmock.h>

#include "verifier/example.h"

namespace kagent::verifier {
namespace {

using example::OneInput;
using testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

TEST(Compare, PassesAtTheToleranceAndFailsJustOver) {
  const OneInput call(DType::float64, {1}, {1, 100}, example::tolerance(1e-3, 0.5));
  EXPECT_EQ(call.compare({1, 100.03}).outcome, Outcome::ok);
  EXPECT_EQ(call.compare({1, 100.7}).outcome, Outcome::wrong_result);
}

TEST(Compare, ReportsTheNumbersOfAPassingOutput) {
  const OneInput call(DType::float64, {1}, {3, 4}, example::tolerance(0.5));
  const Verdict verdict = call.compare({3.25, 4.75});
  ASSERT_EQ(verdict.errors.size(), 1U);
  const OutputError& error = verdict.errors[0];
  EXPECT_EQ(error.worst_index, std::vector<std::int64_t>{1});
  EXPECT_DOUBLE_EQ(error.max_abs_error, 0.75);
  EXPECT_DOUBLE_EQ(error.mean_signed_error, 0.5);
  EXPECT_DOUBLE_EQ(error.error_over_bound, 0.75 / 2);
  EXPECT_DOUBLE_EQ(error.relative_norm_error, std::sqrt(0.25 * 0.25 + 0.75 * 0.75) / 5);
  EXPECT_EQ(error.failing_elements, 0);
}

TEST(Compare, BoundsAContractionByTheSumOfAbsoluteProductsNotByItsResult) {
  Tolerance tolerance = example::tolerance(1.3e-6, 0, "1024", true);
  OneInput call(DType::float32, {1}, {1e-3, -2e-3}, tolerance);
  call.expected.magnitude["y"] = example::tensor(DType::float64, {2}, {1000, 1000});
  EXPECT_EQ(call.compare({1e-3 + 1e-3, -2e-3}).outcome, Outcome::ok);  // 4 u sqrt(1024) 1000 = 7.6e-3
  EXPECT_EQ(call.compare({1e-3 + 9e-3, -2e-3}).outcome, Outcome::wrong_result);
}

TEST(Compare, RefusesAnErrorEverywhereThatEachElementWouldBeAllowed) {
  const std::vector<double> right = example::normal_values(1000, 1);
  const OneInput call(DType::float32, {1}, right, example::tolerance(1.3e-6, 1e-2));
  std::vector<double> off = right;
  for (double& value : off) value += 5e-3;
  const Verdict verdict = call.compare(off);
  EXPECT_EQ(verdict.outcome, Outcome::wrong_result);
  EXPECT_THAT(verdict.reason, HasSubstr("relative norm of the error is 0.00"));
}

TEST(Compare, RefusesZerosThatALooseAtolWouldPass) {
  std::vector<double> small = example::normal_values(1000, 2);
  for (double& value : small) value *= 4e-6;
  const OneInput call(DType::float32, {1}, small, example::tolerance(1.3e-6, 1e-5));
  OneInput tight = call;
  tight.spec.tolerance["y"].atol = 3e-6;
  EXPECT_EQ(tight.compare(std::vector<double>(1000, 0.0)).outcome, Outcome::wrong_result);
}

TEST(Compare, MatchesNonFiniteClassesPositionByPosition) {
  const OneInput call(DType::float32, {1}, {kNan, kInf, -kInf, 1}, example::tolerance(1e-3));
  EXPECT_EQ(call.compare({-kNan, kInf, -kInf, 1}).outcome, Outcome::ok);
  EXPECT_EQ(call.compare({0, kInf, -kInf, 1}).outcome, Outcome::wrong_result);
  EXPECT_EQ(call.compare({kNan, -kInf, -kInf, 1}).outcome, Outcome::wrong_result);
  EXPECT_EQ(call.compare({kNan, 3e38, -kInf, 1}).outcome, Outcome::wrong_result);
  const Verdict spread = call.compare({kNan, kInf, -kInf, kNan});
  EXPECT_EQ(spread.reason, "training: y[3]: got nan, expected 1, one of them is not finite; 1 of 4 elements fail");
}

TEST(Compare, IsNotBlindedByANanBesideALargeError) {
  const OneInput call(DType::float32, {1}, {kNan, 1, 1}, example::tolerance(1e-3));
  EXPECT_EQ(call.compare({kNan, 1, 2}).outcome, Outcome::wrong_result);
}

TEST(Compare, AcceptsInfinityOnlyWhereTheTypeOverflows) {
  const OneInput overflow(DType::float32, {1}, {1e39, -1e39}, example::tolerance(1e-6));
  EXPECT_EQ(overflow.compare({kInf, -kInf}).outcome, Outcome::ok);
  EXPECT_EQ(overflow.compare({-kInf, -kInf}).outcome, Outcome::wrong_result);
  EXPECT_EQ(overflow.compare({3.4e38, -kInf}).outcome, Outcome::wrong_result);
  const OneInput representable(DType::float32, {1}, {3e38}, example::tolerance(1e-6));
  EXPECT_EQ(representable.compare({kInf}).outcome, Outcome::wrong_result);
}

TEST(Compare, TakesTheNanThatE4m3HasForOverflow) {
  const OneInput call(DType::float8_e4m3, {1}, {1e6, 1}, example::tolerance(0.1));
  EXPECT_EQ(call.compare({kNan, 1}).outcome, Outcome::ok);
  EXPECT_EQ(call.compare({kNan, kNan}).outcome, Outcome::wrong_result);
}

TEST(Compare, TakesMinusZeroForZero) {
  const OneInput call(DType::float32, {1}, {0.0, -0.0}, {});
  EXPECT_EQ(call.compare({-0.0, 0.0}).outcome, Outcome::ok);
}

TEST(Compare, SurvivesTheLargestAndSmallestValuesOfFloat64) {
  const OneInput huge(DType::float64, {1}, {1.7e308, -1.6e308}, example::tolerance(1e-7));
  EXPECT_EQ(huge.compare({1.7e308, -1.6e308}).outcome, Outcome::ok);
  EXPECT_EQ(huge.compare({1.7e308, 1.6e308}).outcome, Outcome::wrong_result);
  const OneInput tiny(DType::float64, {1}, {5e-324, 1e-310}, example::tolerance(1e-7));
  EXPECT_EQ(tiny.compare({5e-324, 1e-310}).outcome, Outcome::ok);
  EXPECT_EQ(tiny.compare({0, 1e-310}).outcome, Outcome::wrong_result);
}

TEST(Compare, HoldsIntegersAndBoolsToEveryBit) {
  const OneInput counts(DType::int32, {1}, {5, 7, 9});
  EXPECT_EQ(counts.compare({5, 7, 9}).outcome, Outcome::ok);
  EXPECT_EQ(counts.compare({5, 8, 7}).reason,
            "training: y[2]: got 7, expected 9, off by 2, must be exact; 2 of 3 elements fail");
  OneInput flags(DType::boolean, {1}, {1, 0});
  std::vector<BufferImage> images = flags.images({1, 0});
  EXPECT_EQ(compare(flags.spec, flags.inputs, flags.expected, images).outcome, Outcome::ok);
  images[1].contents.bytes[0] = std::byte{2};
  EXPECT_THAT(compare(flags.spec, flags.inputs, flags.expected, images).reason, HasSubstr("got 0x02 (no bool)"));
}

TEST(Compare, SeesADifferenceOfOneBeyondWhatADoubleHolds) {
  OneInput call(DType::int64, {1}, {0});
  const std::int64_t expected = (std::int64_t{1} << 60), got = expected + 1;
  std::memcpy(call.expected.tensors["y"].bytes.data(), &expected, 8);
  std::vector<BufferImage> images = call.images({0});
  std::memcpy(images[1].contents.bytes.data(), &got, 8);
  EXPECT_THAT(compare(call.spec, call.inputs, call.expected, images).reason,
              HasSubstr("got 1152921504606846977, expected 1152921504606846976"));
}

TEST(Compare, PassesEmptyOutputs) {
  EXPECT_EQ(OneInput(DType::float32, {}, {}, example::tolerance(1e-6)).compare({}).outcome, Outcome::ok);
  EXPECT_EQ(OneInput(DType::int32, {}, {}).compare({}).outcome, Outcome::ok);
}

TEST(Compare, RefusesWhatHasNoExpectedValues) {
  OneInput call(DType::float32, {1}, {1}, example::tolerance(1));
  const auto images = call.images({1});
  call.expected.tensors.clear();
  EXPECT_THAT(compare(call.spec, call.inputs, call.expected, images).reason,
              HasSubstr("no expected values for output y"));
}

TEST(ComparePrograms, AllowsEachProgramTheTolerance) {
  const OneInput call(DType::float32, {1}, {1, 2}, example::tolerance(1e-3));
  EXPECT_EQ(compare_programs(call.spec, call.inputs, call.images({1.0015, 2}), call.images({1, 2})).outcome,
            Outcome::ok);
  EXPECT_EQ(compare_programs(call.spec, call.inputs, call.images({1.0025, 2}), call.images({1, 2})).outcome,
            Outcome::wrong_result);
}

TEST(ComparePrograms, SeesAnOutputLeftFromOtherContents) {
  const std::vector<double> fresh = example::normal_values(64, 3), stale = example::normal_values(64, 4);
  const OneInput call(DType::float32, {1}, fresh, example::tolerance(1.3e-6, 1e-5));
  EXPECT_EQ(compare_programs(call.spec, call.inputs, call.images(stale), call.images(fresh)).outcome,
            Outcome::wrong_result);
}

TEST(ComparePrograms, HoldsIntegersToEveryBitAndSeesDamage) {
  const OneInput call(DType::int32, {1}, {1, 2});
  EXPECT_EQ(compare_programs(call.spec, call.inputs, call.images({1, 3}), call.images({1, 2})).outcome,
            Outcome::wrong_result);
  auto damaged = call.images({1, 2});
  damaged[0].guards_intact = false;
  EXPECT_EQ(compare_programs(call.spec, call.inputs, damaged, call.images({1, 2})).outcome, Outcome::wrong_result);
  EXPECT_EQ(compare_programs(call.spec, call.inputs, call.images({1, 2}), damaged).outcome, Outcome::ok);
}

TEST(ComparePrograms, LooksAtTheInputsThatWereReadBack) {
  const OneInput call(DType::float32, {1}, {1, 2}, example::tolerance(1e-3));
  std::vector<BufferImage> images = call.images({1, 2});
  images[0].contents.bytes[0] ^= std::byte{1};
  EXPECT_EQ(compare_programs(call.spec, call.inputs, images, images).outcome, Outcome::wrong_result);
  images[0].contents.bytes.clear();
  EXPECT_EQ(compare_programs(call.spec, call.inputs, images, images).outcome, Outcome::ok);
  EXPECT_EQ(compare(call.spec, call.inputs, call.expected, images).outcome, Outcome::wrong_result)
      << "for a check all of them are read";
  CallInputs unknown = call.inputs;
  unknown.tensors.clear();
  EXPECT_EQ(compare_programs(call.spec, unknown, images, images).outcome, Outcome::ok);
}

}  // namespace
}  // namespace kagent::verifier
