// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

void transpose_reference(const double* x, double* y, int rows, int cols) {
  constexpr std::int64_t kTile = 32;  // of both matrices, so that the cache holds what is used again
  for (std::int64_t r0 = 0; r0 < rows; r0 += kTile)
    for (std::int64_t c0 = 0; c0 < cols; c0 += kTile)
      for (std::int64_t r = r0; r < std::min<std::int64_t>(r0 + kTile, rows); ++r)
        for (std::int64_t c = c0; c < std::min<std::int64_t>(c0 + kTile, cols); ++c) y[c * rows + r] = x[r * cols + c];
}
