// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>

void rms_norm_reference(const double* x, const double* weight, double* y, int rows, int cols) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const double* from = x + row * cols;
    double squares = 0;
    for (int c = 0; c < cols; ++c) squares += from[c] * from[c];
    const double scale = 1 / std::sqrt(squares / cols + 1e-6);
    for (int c = 0; c < cols; ++c) y[row * cols + c] = from[c] * scale * weight[c];
  }
}
