// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "values/decision.h"
#include "values/outcome.h"

namespace kagent {
namespace {

TEST(Names, EveryOutcomeHasANameThatParsesBack) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Outcome::ambiguous); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    EXPECT_TRUE(names.insert(name(outcome)).second);
    EXPECT_EQ(parse_outcome(name(outcome)), outcome);
  }
  EXPECT_EQ(name(Outcome::wrong_result), "wrong_result");
}

TEST(Names, SomethingElseIsNoOutcome) {
  EXPECT_EQ(parse_outcome("fine"), std::nullopt);
  EXPECT_EQ(parse_outcome(""), std::nullopt);
}

TEST(Names, ComparisonsHaveDistinctNames) {
  const std::set<std::string_view> names{name(Comparison::faster), name(Comparison::slower), name(Comparison::same),
                                         name(Comparison::ambiguous)};
  EXPECT_EQ(names.size(), 4U);
}

}  // namespace
}  // namespace kagent
