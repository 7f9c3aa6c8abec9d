// SPDX-License-Identifier: Apache-2.0
#include "judge/student_t.h"

#include <cmath>
#include <numbers>

namespace kagent::judge {

double student_t_within(double t, int degrees_of_freedom) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(degrees_of_freedom)));
  const double sine = std::sin(theta), cosine = std::cos(theta);
  const bool odd = degrees_of_freedom % 2 == 1;
  double term = odd ? cosine : 1, sum = degrees_of_freedom == 1 ? 0 : term;
  for (int i = odd ? 3 : 2; i < degrees_of_freedom; i += 2) {
    term *= cosine * cosine * (i - 1) / i;
    sum += term;
  }
  return odd ? 2 / std::numbers::pi * (theta + sine * sum) : sine * sum;
}

double student_t_quantile(double alpha, int degrees_of_freedom) {
  double low = 0, high = 1;
  while (1 - student_t_within(high, degrees_of_freedom) > alpha && high < 1e12) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (1 - student_t_within(middle, degrees_of_freedom) > alpha ? low : high) = middle;
  }
  return high;
}

}  // namespace kagent::judge
