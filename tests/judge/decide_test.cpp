// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>

#include <gmock/gmock.h>

#include "judge/judge.h"

namespace kagent::judge {
namespace {

using testing::HasSubstr;

using Pairs = std::vector<std::vector<PairSamples>>;

PairSamples samples(double incumbent_ns, double ratio) {
  return {{incumbent_ns, incumbent_ns}, {incumbent_ns * ratio, incumbent_ns * ratio}};
}

// Pairs whose ratios lie about `ratio`, a case each, with a spread of +-`spread` that sums to 0 over four pairs.
Pairs pairs_about(int count, const std::vector<double>& ratios, double spread) {
  Pairs pairs;
  for (int p = 0; p < count; ++p) {
    const double offset = spread * std::vector{-1.0, 1.0, -0.5, 0.5}[static_cast<std::size_t>(p) % 4];
    std::vector<PairSamples> of_pair;
    for (const double ratio : ratios) of_pair.push_back(samples(1e6, ratio * std::exp(offset)));
    pairs.push_back(of_pair);
  }
  return pairs;
}

const std::vector<TimedCase> kOneCase{{"training", 1}};
const std::vector<TimedCase> kTwoCases{{"training", 0.8}, {"decode", 0.2}};

TEST(Decide, AcceptsAClearGainAfterFourPairs) {
  const Decision decision = decide({}, kOneCase, pairs_about(4, {0.8}, 0.002));
  EXPECT_EQ(decision.comparison, Comparison::faster);
  EXPECT_TRUE(decision.accepted);
  EXPECT_NEAR(decision.ratio, 0.8, 1e-9);
  EXPECT_LT(decision.low, 0.8);
  EXPECT_GT(decision.high, 0.8);
  EXPECT_EQ(decision.cases[0].pairs, 4);
  EXPECT_DOUBLE_EQ(decision.cases[0].incumbent_ns, 1e6);
  EXPECT_NEAR(decision.cases[0].candidate_ns, 0.8e6, 1e3);
  EXPECT_THAT(decision.reason, HasSubstr("1.250x faster: time ratio 0.7"));
}

TEST(Decide, CallsEqualProgramsSame) {
  const Decision decision = decide({}, kOneCase, pairs_about(8, {1.0}, 0.002));
  EXPECT_EQ(decision.comparison, Comparison::same);
  EXPECT_FALSE(decision.accepted);
}

TEST(Decide, CallsASlowerProgramSlower) {
  const Decision decision = decide({}, kOneCase, pairs_about(8, {1.1}, 0.002));
  EXPECT_EQ(decision.comparison, Comparison::slower);
  EXPECT_THAT(decision.reason, HasSubstr("10.0 % slower"));
}

TEST(Decide, DoesNotAcceptAGainThatTheNoiseCouldBe) {
  EXPECT_EQ(decide({}, kOneCase, pairs_about(4, {0.98}, 0.03)).comparison, Comparison::ambiguous);
}

TEST(Decide, DoesNotAcceptACertainGainUnderMinGain) {
  Policy policy;
  policy.min_gain = 0.05;
  EXPECT_EQ(decide(policy, kOneCase, pairs_about(16, {0.97}, 0.001)).comparison, Comparison::same);
}

TEST(Decide, WeighsTheCasesAsAGeometricMean) {
  const Decision decision = decide({}, kTwoCases, pairs_about(8, {0.5, 1.0}, 0.001));
  EXPECT_NEAR(decision.ratio, std::pow(0.5, 0.8), 1e-9);
  EXPECT_TRUE(decision.accepted);
}

TEST(Decide, RefusesAGainThatOneCasePaysFor) {
  const Decision decision = decide({}, kTwoCases, pairs_about(8, {0.5, 1.2}, 0.001));
  EXPECT_FALSE(decision.accepted);
  EXPECT_EQ(decision.comparison, Comparison::slower);
  EXPECT_EQ(decision.cases[0].comparison, Comparison::faster);
  EXPECT_THAT(decision.reason, HasSubstr("case decode is slower than the 1 % allowed"));
}

TEST(Decide, IsAmbiguousWhileACaseMayBeSlowerThanAllowed) {
  Pairs pairs = pairs_about(8, {0.5, 1.0}, 0.001);
  for (std::size_t p = 0; p < pairs.size(); ++p) pairs[p][1] = samples(1e6, p % 2 == 0 ? 1.03 : 0.97);
  const Decision decision = decide({}, kTwoCases, pairs);
  EXPECT_EQ(decision.comparison, Comparison::ambiguous);
  EXPECT_THAT(decision.reason, HasSubstr("case decode may be slower"));
}

TEST(Decide, AllowsACaseTheRegressionThatThePolicyAllows) {
  Policy policy;
  policy.max_regression = 0.05;
  EXPECT_TRUE(decide(policy, kTwoCases, pairs_about(8, {0.5, 1.03}, 0.001)).accepted);
}

TEST(Decide, DoesNotAcceptAProgramThatIsFastOnlyInSomeOfItsCalls) {
  Pairs pairs;
  for (int p = 0; p < 8; ++p) {
    const double fast = 0.8e6 + 1e3 * (p % 4), slow = 1.5e6;
    pairs.push_back({{{1e6, 1e6, 1e6, 1e6, 1e6}, {fast, fast, slow, slow, slow}}});
  }
  const Decision decision = decide({}, kOneCase, pairs);
  EXPECT_EQ(decision.comparison, Comparison::ambiguous);
  EXPECT_THAT(decision.reason, HasSubstr("in the middle of all samples case training takes 1.500 of the time"));
}

TEST(Decide, SaysWhetherNoiseOrTheSmallGainIsInTheWay) {
  EXPECT_THAT(decide({}, kOneCase, pairs_about(8, {0.99}, 0.03)).reason, HasSubstr("too noisy to tell"));
  EXPECT_THAT(decide({}, kOneCase, pairs_about(16, {0.992}, 0.003)).reason,
              HasSubstr("a difference too small to count"));
}

TEST(Decide, NeedsTheFirstLooksPairsHoweverAlikeTheyAre) {
  EXPECT_EQ(decide({}, kOneCase, pairs_about(3, {0.5}, 0)).comparison, Comparison::ambiguous);
  EXPECT_EQ(decide({}, kOneCase, {}).comparison, Comparison::ambiguous);
}

TEST(Decide, LeavesOutAPairWithoutTimesInEveryCase) {
  Pairs pairs = pairs_about(4, {0.5, 0.5}, 0.001);
  pairs[1][1] = samples(0, 1);
  const Decision decision = decide({}, kTwoCases, pairs);
  EXPECT_EQ(decision.cases[0].pairs, 3);
  EXPECT_EQ(decision.comparison, Comparison::ambiguous);
}

TEST(Decide, DecidesNothingWithoutCasesOrWithABrokenPolicy) {
  EXPECT_THAT(decide({}, {}, {}).reason, HasSubstr("no timed case"));
  Policy policy;
  policy.min_gain = 0;
  EXPECT_THAT(decide(policy, kOneCase, pairs_about(8, {0.5}, 0)).reason, HasSubstr("min_gain"));
  EXPECT_FALSE(decide(policy, kOneCase, pairs_about(8, {0.5}, 0)).accepted);
}

TEST(WorthMorePairs, OnlyWhileTheAnswerIsOpenAndCouldStillBeFaster) {
  const Policy policy;
  EXPECT_FALSE(worth_more_pairs(policy, decide(policy, kOneCase, pairs_about(4, {0.8}, 0.002)), 4));
  const Decision open = decide(policy, kOneCase, pairs_about(4, {0.98}, 0.03));
  EXPECT_TRUE(worth_more_pairs(policy, open, 4));
  EXPECT_FALSE(worth_more_pairs(policy, open, 16));
  // Between 'same' and 'slower', but no longer 'faster'.
  EXPECT_FALSE(worth_more_pairs(policy, decide(policy, kOneCase, pairs_about(8, {1.009}, 0.004)), 8));
}

TEST(Decide, CallsIdenticalProgramsFasterInAtMostOneOfAHundredRuns) {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> bias(0, 0.01);
  const Policy policy;
  int faster = 0;
  constexpr int kRuns = 3000;
  for (int run = 0; run < kRuns; ++run) {
    Pairs pairs;
    for (const int look : policy.looks) {
      while (static_cast<int>(pairs.size()) < look) pairs.push_back({samples(1e6, std::exp(bias(generator)))});
      const Decision decision = decide(policy, kOneCase, pairs);
      if (decision.accepted) ++faster;
      if (decision.comparison != Comparison::ambiguous) break;
    }
  }
  EXPECT_LE(faster, kRuns / 100);
}

}  // namespace
}  // namespace kagent::judge
