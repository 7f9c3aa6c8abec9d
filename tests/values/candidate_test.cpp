// SPDX-License-Identifier: Apache-2.0
#include "values/candidate.h"

#include <gtest/gtest.h>

namespace kagent {
namespace {

TEST(Candidate, WithoutTunablesItIsItsSource) {
  EXPECT_EQ(render({.source = "int f();\n", .tunables = {}, .proposer = {}, .hypothesis = {}}, "f.cpp"), "int f();\n");
}

TEST(Candidate, TunablesAreDefinedOnTopAndLinesStillCountFromTheSource) {
  const Candidate candidate{
      .source = "int f();\n", .tunables = {{"VECTOR", 4}, {"BLOCK", -1}}, .proposer = {}, .hypothesis = {}};
  EXPECT_EQ(render(candidate, "kernels/f.cpp"),
            "#undef BLOCK\n#define BLOCK -1\n#undef VECTOR\n#define VECTOR 4\n#line 1 \"kernels/f.cpp\"\nint f();\n");
}

TEST(Candidate, TheSameCandidateRendersTheSameText) {
  const Candidate candidate{.source = "x", .tunables = {{"A", 1}}, .proposer = "search", .hypothesis = "faster"};
  Candidate other = candidate;
  other.proposer = "replay";
  EXPECT_EQ(render(candidate, "a.cpp"), render(other, "a.cpp"));
}

}  // namespace
}  // namespace kagent
