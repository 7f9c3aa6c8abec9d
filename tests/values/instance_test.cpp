// SPDX-License-Identifier: Apache-2.0
#include "values/instance.h"

#include <string>

#include <gtest/gtest.h>

namespace kagent {
namespace {

TEST(Instance, InstancesOfTheEntryAreTaken) {
  for (const char* text : {"ns::f<float>", "ns::f<float, BLOCK>", "ns::f<ns::tile<4, 2>, (A > B)>", "ns::f<>",
                           "ns::f<std::pair<int, tile<3>>, 2 * BLOCK, -1>"})
    EXPECT_TRUE(is_instance_of(text, "ns::f")) << text;
}

TEST(Instance, WhatDoesMoreThanNameAnInstanceIsRefused) {
  for (const char* text :
       {"", "ns::f", "ns::g<float>", "f<float>", "ns::f<float", "ns::f<float>>", "ns::f<float>, other<1>",
        "ns::f<1>(g<2>)", "ns::f<float>)", "ns::f<\"x\">", "ns::f<float>; int x = g<1>", "ns::f<float>\n", "ns::ff<1>",
        "ns::f<sizeof(int[3])>", "ns::f<(1>", "ns::f<1)>"})
    EXPECT_FALSE(is_instance_of(text, "ns::f")) << text;
  EXPECT_FALSE(is_instance_of("f<" + std::string(100'000, '(') + ">", "f"));
}

}  // namespace
}  // namespace kagent
