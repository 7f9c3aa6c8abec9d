// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>

void row_softmax_reference(const double* x, double* y, int rows, int cols) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const double* from = x + row * cols;
    double* to = y + row * cols;
    double maximum = -std::numeric_limits<double>::infinity();
    for (int c = 0; c < cols; ++c)
      if (from[c] > maximum) maximum = from[c];
    double sum = 0;
    for (int c = 0; c < cols; ++c) sum += to[c] = std::exp(from[c] - maximum);
    for (int c = 0; c < cols; ++c) to[c] /= sum;
  }
}
