// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

void matmul_reference(const double* a, const double* b, double* c, int m, int n, int k) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) c[i * n + j] = 0;
    for (std::int64_t p = 0; p < k; ++p)
      for (std::int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}
