// SPDX-License-Identifier: Apache-2.0
#include "judge/student_t.h"

#include <gtest/gtest.h>

namespace kagent::judge {
namespace {

// Tables: two-sided critical values.
TEST(StudentT, AgreesWithPublishedTables) {
  EXPECT_NEAR(student_t_quantile(0.05, 1), 12.706, 1e-3);
  EXPECT_NEAR(student_t_quantile(0.05, 2), 4.303, 1e-3);
  EXPECT_NEAR(student_t_quantile(0.01, 3), 5.841, 1e-3);
  EXPECT_NEAR(student_t_quantile(0.001, 4), 8.610, 1e-3);
  EXPECT_NEAR(student_t_quantile(0.01, 9), 3.250, 1e-3);
  EXPECT_NEAR(student_t_quantile(0.05, 30), 2.042, 1e-3);
  EXPECT_NEAR(student_t_quantile(0.01, 120), 2.617, 1e-3);
}

TEST(StudentT, InvertsItsDistribution) {
  for (const int degrees : {1, 2, 3, 5, 8, 15})
    for (const double alpha : {0.5, 0.05, 0.01, 0.01 / 3, 1e-4})
      EXPECT_NEAR(1 - student_t_within(student_t_quantile(alpha, degrees), degrees), alpha, 1e-9);
}

}  // namespace
}  // namespace kagent::judge
