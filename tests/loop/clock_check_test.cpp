// SPDX-License-Identifier: Apache-2.0
#include "loop/clock_check.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>

namespace kagent::loop {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using testing::HasSubstr;

// Samples of 2 ms against `candidate_us`, of which the driver sees `seen_us`, with so much noise in what it waits
// beside.
std::vector<SampleTimes> samples(double candidate_us, double seen_us, double noise_us, int count = 100) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, noise_us);
  auto time = [](double us) { return nanoseconds(std::llround(us * 1e3)); };
  std::vector<SampleTimes> made;
  for (int i = 0; i < count; ++i)
    made.push_back(
        {time(2000), time(2000 + 500 + noise(random)), time(candidate_us), time(seen_us + 500 + noise(random))});
  return made;
}

TEST(ClockDisagreement, IsNoneWhereBothClocksSeeTheGain) {
  EXPECT_FALSE(clock_disagreement(samples(1500, 1500, 20)));
  EXPECT_FALSE(clock_disagreement(samples(1990, 1990, 50)));
}

TEST(ClockDisagreement, NamesAGainThatTheDriverDidNotSee) {
  const auto found = clock_disagreement(samples(1000, 2000, 20));
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, HasSubstr("the driver's clock disagrees: a sample is 1000.0 us shorter"));
}

TEST(ClockDisagreement, NamesASmallGainThatWasMadeUp) {
  EXPECT_TRUE(clock_disagreement(samples(1900, 2000, 20)));
}

TEST(ClockDisagreement, AccusesNobodyWhereTheNoiseIsLargerThanTheGain) {
  EXPECT_FALSE(clock_disagreement(samples(1990, 2000, 500)));
}

TEST(ClockDisagreement, IsNoneForACandidateThatGainsNothing) {
  EXPECT_FALSE(clock_disagreement(samples(2500, 4000, 20)));
  EXPECT_FALSE(clock_disagreement({}));
}

TEST(IsImpossible, IsATimeLongerThanTheDriverWaitedOrNegative) {
  EXPECT_FALSE(is_impossible(
      {.outcome = Outcome::ok, .detail = {}, .child_time = microseconds(990), .driver_time = microseconds(1000)}));
  EXPECT_TRUE(is_impossible(
      {.outcome = Outcome::ok, .detail = {}, .child_time = microseconds(1100), .driver_time = microseconds(1000)}));
  EXPECT_TRUE(is_impossible(
      {.outcome = Outcome::ok, .detail = {}, .child_time = nanoseconds(-1), .driver_time = microseconds(1000)}));
}

}  // namespace
}  // namespace kagent::loop
