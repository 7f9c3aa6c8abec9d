// SPDX-License-Identifier: Apache-2.0
#include "values/idea.h"

#include <gtest/gtest.h>

namespace kagent {
namespace {

TEST(Idea, IsThatOfACandidatesCorrectionsAndOfNothingElse) {
  const Candidate tried{.source = "a", .tunables = {}, .proposer = "openai", .hypothesis = "less work", .parent = "p"};
  Candidate corrected = tried;
  corrected.source = "b";
  EXPECT_EQ(idea_of(corrected), idea_of(tried));
  for (std::string Candidate::*part : {&Candidate::proposer, &Candidate::hypothesis, &Candidate::parent,
                                       &Candidate::second_parent, &Candidate::change}) {
    Candidate other = tried;
    other.*part = "another";
    EXPECT_NE(idea_of(other), idea_of(tried));
  }
}

TEST(Idea, IsUnknownWithoutAHypothesis) {
  EXPECT_EQ(idea_of({.source = "a", .tunables = {}, .proposer = "openai", .hypothesis = "", .change = "wider"}), "");
}

}  // namespace
}  // namespace kagent
