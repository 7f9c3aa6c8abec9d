// SPDX-License-Identifier: Apache-2.0
#include "report/decision_table.h"

#include <cmath>

#include <gtest/gtest.h>

#include "report/sample_events.h"

namespace kagent::report {
namespace {

CaseRatio one_case(const std::string& name, double incumbent_ns, double ratio, Comparison comparison) {
  CaseRatio made;
  made.case_name = name;
  made.incumbent_ns = incumbent_ns;
  made.candidate_ns = incumbent_ns * ratio;
  made.ratio = ratio, made.low = ratio * 0.99, made.high = ratio * 1.01;
  made.comparison = comparison;
  return made;
}

TEST(DecisionTable, ShowsEachCaseInAUnitThatSuitsItAndAllTogether) {
  Decision made = decision(0.8, 0.79, 0.81);
  made.cases = {one_case("training", 12.34e6, 0.7, Comparison::faster), one_case("decode", 850, 1, Comparison::same)};
  EXPECT_EQ(decision_table(made, "baseline", "built"),
            "case      baseline    built  speedup [99 % interval]  verdict\n"
            "training   12.3 ms  8.64 ms  1.43x [1.41x, 1.44x]     faster\n"
            "decode      850 ns   850 ns  1.00x [0.99x, 1.01x]     same\n"
            "all                          1.25x [1.23x, 1.27x]     faster\n");
}

TEST(DecisionTable, ShowsImpossibleNumbersAsUnknown) {
  Decision made = decision(0, std::nan(""), INFINITY);
  made.cases = {one_case("broken", std::nan(""), -1, Comparison::ambiguous)};
  EXPECT_EQ(decision_table(made, "baseline", "built"),
            "case    baseline  built  speedup [99 % interval]  verdict\n"
            "broken         -      -  ? [?, ?]                 ambiguous\n"
            "all                      ? [?, ?]                 faster\n");
}

}  // namespace
}  // namespace kagent::report
