// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "loop/fake_runner.h"
#include "loop/measurement.h"
#include "util/files.h"

namespace kagent::loop {
namespace {

class RaceTest : public testing::Test {
 protected:
  RaceTest() {
    runner_.programs = {{"anchor", {}}};
    options_.limits.cpus = {0};
    options_.lane = lane_.path();
    options_.seed = 3;
  }
  Result<std::vector<Raced>> run(const std::vector<std::string>& names) {
    std::vector<Binary> binaries;
    for (const std::string& name : names) binaries.push_back(FakeRunner::binary(name));
    return race(runner_, spec_, FakeRunner::binary("anchor"), binaries, options_);
  }

  KernelSpec spec_ = doubling_spec();
  FakeRunner runner_;
  util::TemporaryFolder lane_{"lane"};  // not to wait for what is measured in earnest
  MeasurementOptions options_;
};

TEST_F(RaceTest, GivesEachItsTimeOverTheAnchors) {
  runner_.programs["fast"].call_ns = 0.5e6;
  runner_.programs["slow"].call_ns = 3e6;
  const auto raced = run({"slow", "fast"}).value();
  ASSERT_EQ(raced.size(), 2U);
  EXPECT_NEAR(raced[0].ratio, 3, 0.02);
  EXPECT_NEAR(raced[1].ratio, 0.5, 0.005);
}

TEST_F(RaceTest, SpendsItsSamplesOnThoseNearTheBest) {
  runner_.programs["best"] = {.call_ns = 0.5e6, .noise = 1e-4};
  runner_.programs["close"] = {.call_ns = 0.502e6, .noise = 1e-4};
  runner_.programs["near"] = {.call_ns = 0.51e6, .noise = 1e-4};
  runner_.programs["far"] = {.call_ns = 0.8e6, .noise = 1e-4};
  runner_.programs["anchor"].noise = 1e-4;
  const auto raced = run({"far", "near", "close", "best"}).value();
  EXPECT_EQ(raced[0].samples, 2);
  EXPECT_EQ(raced[1].samples, 6);
  EXPECT_EQ(raced[2].samples, 20);
  EXPECT_EQ(raced[3].samples, 20);
}

TEST_F(RaceTest, CostsTheOthersNothingWhenOneDies) {
  runner_.programs["dies"] = {.fails_at_sample = 0, .failure = Outcome::crashed};
  runner_.programs["lives"].call_ns = 0.5e6;
  const auto raced = run({"dies", "lives"}).value();
  EXPECT_EQ(raced[0].outcome, Outcome::crashed);
  EXPECT_EQ(raced[1].outcome, Outcome::ok);
  EXPECT_NEAR(raced[1].ratio, 0.5, 0.01);
}

TEST_F(RaceTest, WeighsTheCasesAsAGeometricMean) {
  Case second = spec_.cases[0];
  second.name = "decode";
  second.weight = 3;
  spec_.cases.push_back(second);
  runner_.programs["b"].call_ns = 0.25e6;
  EXPECT_NEAR(run({"b"}).value()[0].ratio, 0.25, 0.005);
}

TEST_F(RaceTest, LeavesThoseWithoutSamplesThatItDidNotReach) {
  runner_.programs["b"] = {};
  options_.interrupted = [this] { return runner_.started.size() > 2; };
  const auto raced = run({"b", "b", "b"}).value();
  ASSERT_EQ(raced.size(), 3U);
  EXPECT_EQ(raced[2].samples, 0);
  EXPECT_EQ(raced[2].outcome, Outcome::ok);
}

TEST_F(RaceTest, GivesNoRatioForCallsThatTakeNoTime) {
  runner_.programs["b"].call_ns = 0;
  EXPECT_EQ(run({"b"}).value()[0].outcome, Outcome::ambiguous);
}

TEST_F(RaceTest, IsOverAtOnceWithoutCandidates) {
  EXPECT_TRUE(run({}).value().empty());
}

}  // namespace
}  // namespace kagent::loop
