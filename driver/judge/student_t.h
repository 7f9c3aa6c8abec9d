// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kagent::judge {

// P(|T| < t) of Student's distribution with so many degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4).
double student_t_within(double t, int degrees_of_freedom);

// The t with P(|T| >= t) = alpha, for 0 < alpha < 1.
double student_t_quantile(double alpha, int degrees_of_freedom);

}  // namespace kagent::judge
