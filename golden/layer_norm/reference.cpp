// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>

void layer_norm_reference(const double* x, const double* gamma, const double* beta, double* y, int rows, int cols) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const double* from = x + row * cols;
    double* to = y + row * cols;
    double mean = 0, variance = 0;
    for (int c = 0; c < cols; ++c) mean += from[c];
    mean /= cols;
    for (int c = 0; c < cols; ++c) variance += (from[c] - mean) * (from[c] - mean);
    const double scale = 1 / std::sqrt(variance / cols + 1e-5);
    for (int c = 0; c < cols; ++c) to[c] = (from[c] - mean) * scale * gamma[c] + beta[c];
  }
}
