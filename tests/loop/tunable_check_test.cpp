// SPDX-License-Identifier: Apache-2.0
#include "loop/tunable_check.h"

#include <gtest/gtest.h>

namespace kagent::loop {
namespace {

Trial compiled(std::int64_t block, const std::string& object) {
  Trial trial;
  trial.candidate.tunables = {{"BLOCK", block}};
  trial.object_hash = object;
  return trial;
}

TEST(TunableCheck, OneProgramForManyValuesIsNoEffect) {
  const std::vector<Trial> trials{compiled(1, "a"), compiled(2, "a"), compiled(3, "a"), compiled(4, "a")};
  EXPECT_TRUE(tunables_have_no_effect(trials));
}

TEST(TunableCheck, AnotherProgramForOneValueIsAnEffect) {
  EXPECT_FALSE(tunables_have_no_effect({compiled(1, "a"), compiled(2, "a"), compiled(3, "b"), compiled(4, "a")}));
}

TEST(TunableCheck, OfTunablesThatACandidateBroughtTheProjectIsNotToldOff) {
  std::vector<Trial> trials{compiled(1, "a"), compiled(2, "a"), compiled(3, "a"), compiled(4, "a")};
  for (Trial& trial : trials) trial.candidate.own_tunables = {{"BLOCK", {1, 2, 3, 4}}};
  EXPECT_FALSE(tunables_have_no_effect(trials));
}

TEST(TunableCheck, TooFewTrialsProveNothing) {
  EXPECT_FALSE(tunables_have_no_effect({compiled(1, "a"), compiled(2, "a")}));
}

}  // namespace
}  // namespace kagent::loop
