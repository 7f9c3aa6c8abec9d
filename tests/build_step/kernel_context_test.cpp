// SPDX-License-Identifier: Apache-2.0
#include "build_step/kernel_context.h"

#include <gmock/gmock.h>

namespace kagent::build_step {
namespace {

using ::testing::HasSubstr;

TEST(KernelContext, CodeOfOneArchitectureAloneIsBuiltForThatArchitecture) {
  KernelContext context;
  context.architecture = "sm_90";
  EXPECT_FALSE(architecture_conflict(context));

  context.spec.architecture_specific = true;
  const auto plain = architecture_conflict(context);
  ASSERT_TRUE(plain);
  EXPECT_THAT(plain->message, HasSubstr("the build compiles for sm_90"));
  EXPECT_EQ(plain->fix, "ARCHITECTURES 90a, or CUDA_ARCHITECTURES 90a of the target");

  for (const char* specific : {"sm_90a", "sm_100f"}) {
    context.architecture = specific;
    EXPECT_FALSE(architecture_conflict(context));
  }

  context.architecture = "sm_80";
  const auto early = architecture_conflict(context);
  ASSERT_TRUE(early);
  EXPECT_THAT(early->fix, HasSubstr("leave 80 out"));
}

}  // namespace
}  // namespace kagent::build_step
