// SPDX-License-Identifier: Apache-2.0
#include "store/variant_name.h"

#include <gtest/gtest.h>

namespace kagent::store {
namespace {

TEST(VariantName, is_read_back_from_its_branch) {
  const VariantName name{"softmax", "x86-64-v3", 7, "1a2b3c4d"};
  EXPECT_EQ(name.branch(), "kagent/softmax/x86-64-v3/g007-1a2b3c4d");
  const auto parsed = parse_variant_name(name.branch());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->kernel, "softmax");
  EXPECT_EQ(parsed->architecture, "x86-64-v3");
  EXPECT_EQ(parsed->generation, 7);
  EXPECT_EQ(parsed->hash8, "1a2b3c4d");
  EXPECT_EQ(parse_variant_name("kagent/softmax/sm_90/g1234-1a2b3c4d")->generation, 1234);
}

TEST(VariantName, is_nothing_else) {
  for (const char* text : {"",
                           "main",
                           "kagent",
                           "kagent/softmax",
                           "kagent/softmax/sm_90",
                           "kagent/softmax/sm_90/",
                           "kagent/softmax/sm_90/g1",
                           "kagent/softmax/sm_90/g001",
                           "kagent/softmax/sm_90/g001-",
                           "kagent/softmax/sm_90/g001-1a2b3c4",
                           "kagent/softmax/sm_90/g001-1a2b3c4dd",
                           "kagent/softmax/sm_90/g001-1A2B3C4D",
                           "kagent/softmax/sm_90/g01-1a2b3c4d",
                           "kagent/softmax/sm_90/g0001-1a2b3c4d",
                           "kagent/softmax/sm_90/g000-1a2b3c4d",
                           "kagent/softmax/sm_90/g-01-1a2b3c4d",
                           "kagent/softmax/sm_90/g99999999999-1a2b3c4d",
                           "kagent/softmax/sm_90/g001-1a2b3c4d/x",
                           "kagent//sm_90/g001-1a2b3c4d",
                           "kagent/../sm_90/g001-1a2b3c4d",
                           "origin/kagent/softmax/sm_90/g001-1a2b3c4d"})
    EXPECT_FALSE(parse_variant_name(text)) << text;
}

TEST(VariantName, generations_are_written_with_three_digits_and_read_leniently) {
  EXPECT_EQ(generation_name(3), "g003");
  EXPECT_EQ(generation_name(1000), "g1000");
  for (const char* text : {"3", "g3", "g003"}) EXPECT_EQ(parse_generation(text), 3) << text;
  EXPECT_EQ(parse_generation("baseline"), 0);
  for (const char* text : {"", "g", "x", "-1", "g-1", "3.5", "99999999999", "g3 "})
    EXPECT_FALSE(parse_generation(text)) << text;
}

}  // namespace
}  // namespace kagent::store
