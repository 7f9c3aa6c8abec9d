// SPDX-License-Identifier: Apache-2.0
#include "toolchain/nvcc_host_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::toolchain {
namespace {

using testing::ElementsAre;

TEST(ResultType, is_that_of_the_declaration_and_not_of_a_call) {
  EXPECT_EQ(result_type("void scale(const float *x);\nint main() { scale(0); return scale(1); }", "scale"), "void");
  EXPECT_EQ(result_type("extern \"C\" cudaError_t scale(float *y) { return cudaGetLastError(); }", "scale"),
            "cudaError_t");
  EXPECT_EQ(result_type("cudaError_t ops::scale(float *y) { }", "ops::scale"), "cudaError_t");
  EXPECT_EQ(result_type("auto scale(float *y)->cudaError_t { }", "scale"), "cudaError_t");
  EXPECT_EQ(result_type("void upscale(); int scaled(); status scale (float *y) { }", "scale"), "status");
  EXPECT_EQ(result_type("x = scale(1); (scale)(2);", "scale"), "");
  EXPECT_EQ(result_type("", "scale"), "");
  EXPECT_EQ(result_type("void scale(", ""), "");
}

TEST(DeviceFunctions, are_those_whose_host_body_ends_the_process) {
  EXPECT_THAT(device_functions("static int n; __attribute__((unused)) float helper(float x) {int volatile ___ = 1;"
                               "(void)x;::exit(___);}\nfloat V::m(int (*f)(int)) const {int volatile ___ = 1;}\n"
                               "float both(float x) { return x; }"),
              ElementsAre("helper", "m"));
  EXPECT_TRUE(device_functions("{int volatile ___ = 1;").empty());
}

}  // namespace
}  // namespace kagent::toolchain
