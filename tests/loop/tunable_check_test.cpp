// SPDX-License-Identifier: Apache-2.0
#include "loop/tunable_check.h"

#include <gmock/gmock.h>

namespace kagent::loop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<Tunable> kTunables{{"BLOCK", {16, 32}}, {"UNROLL", {1, 2}}};

TEST(TunableCheck, AcceptsDefaultsBehindIfndef) {
  EXPECT_THAT(overridden_tunables("#ifndef BLOCK\n#define BLOCK 16\n#endif\n", kTunables), IsEmpty());
  EXPECT_THAT(overridden_tunables("# if !defined(BLOCK)\n#  define BLOCK 16\n# endif\n", kTunables), IsEmpty());
}

TEST(TunableCheck, NamesTheLineThatOverridesATunable) {
  EXPECT_THAT(overridden_tunables("\n#define BLOCK 16\n", kTunables), ElementsAre(HasSubstr("line 2 defines BLOCK")));
}

TEST(TunableCheck, SeesADefinitionAfterTheGuardWasClosed) {
  EXPECT_THAT(overridden_tunables("#ifndef BLOCK\n#endif\n#define BLOCK 16\n", kTunables), ElementsAre(HasSubstr("line 3")));
}

TEST(TunableCheck, IgnoresOtherMacrosAndText) {
  EXPECT_THAT(overridden_tunables("#define OTHER 1\nint BLOCK;\n#define\n#", kTunables), IsEmpty());
}

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

TEST(TunableCheck, TooFewTrialsProveNothing) {
  EXPECT_FALSE(tunables_have_no_effect({compiled(1, "a"), compiled(2, "a")}));
}

}  // namespace
}  // namespace kagent::loop
