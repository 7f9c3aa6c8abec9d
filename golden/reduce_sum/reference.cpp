// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

// Neumaier's sum: what each addition loses is summed beside, unless something is not finite and loses nothing.
void reduce_sum_reference(const double* x, double* sum, double*, std::int64_t count) {
  double total = 0, lost = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double next = total + x[i];
    const double large = __builtin_fabs(total) >= __builtin_fabs(x[i]) ? total : x[i];
    const double small = large == total ? x[i] : total;
    lost += (large - next) + small;
    total = next;
  }
  sum[0] = lost - lost == 0 ? total + lost : total;
}
