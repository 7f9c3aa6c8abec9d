// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

// The loops are compiled for the vectors of the machine at hand: products of real sizes take about a second even so.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_THIS_MACHINE \
  __attribute__((optimize("O3"), target_clones("default", "arch=haswell", "arch=skylake-avx512")))
#else
#define FOR_THIS_MACHINE
#endif

// Adds the products of four rows of A (columns p0 to p1) to C, 4 x width. With fewer rows, the last is taken again.
FOR_THIS_MACHINE static void add_rows(const double* a, const double* b, double* c, std::int64_t rows,
                                      std::int64_t width, std::int64_t n, std::int64_t k, std::int64_t p0,
                                      std::int64_t p1) {
  constexpr std::int64_t kWidth = 256;
  double sums[4][kWidth];
  const double* of_a[4];
  for (std::int64_t r = 0; r < 4; ++r) {
    of_a[r] = a + std::min(r, rows - 1) * k;
    std::copy_n(c + std::min(r, rows - 1) * n, width, sums[r]);
  }
  for (std::int64_t p = p0; p < p1; ++p) {
    const double* from = b + p * n;
    const double a0 = of_a[0][p], a1 = of_a[1][p], a2 = of_a[2][p], a3 = of_a[3][p];
    for (std::int64_t j = 0; j < width; ++j) {
      sums[0][j] += a0 * from[j];
      sums[1][j] += a1 * from[j];
      sums[2][j] += a2 * from[j];
      sums[3][j] += a3 * from[j];
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) std::copy_n(sums[r], width, c + r * n);
}

void hgemm_reference(const double* a, const double* b, double* c, int m, int n, int k) {
  constexpr std::int64_t kDepth = 128, kWidth = 256;  // a block of B that stays in the cache
  std::fill_n(c, static_cast<std::int64_t>(m) * n, 0.0);
  for (std::int64_t p = 0; p < k; p += kDepth)
    for (std::int64_t j = 0; j < n; j += kWidth)
      for (std::int64_t i = 0; i < m; i += 4)
        add_rows(a + i * k, b + j, c + i * n + j, std::min<std::int64_t>(4, m - i),
                 std::min<std::int64_t>(kWidth, n - j), n, k, p, std::min<std::int64_t>(p + kDepth, k));
}
