// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>

void group_norm_reference(const double* x, const double* gamma, const double* beta, double* y, int batch, int channels,
                          int positions, int groups) {
  const std::int64_t channels_of_group = channels / groups, count = channels_of_group * positions;
  if (count == 0) return;
  for (std::int64_t group = 0; group < std::int64_t{batch} * groups; ++group) {
    const double* from = x + group * count;
    double* to = y + group * count;
    double mean = 0, variance = 0;
    for (std::int64_t i = 0; i < count; ++i) mean += from[i];
    mean /= static_cast<double>(count);
    for (std::int64_t i = 0; i < count; ++i) variance += (from[i] - mean) * (from[i] - mean);
    const double scale = 1 / std::sqrt(variance / static_cast<double>(count) + 1e-5);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t channel = group % groups * channels_of_group + i / positions;
      to[i] = (from[i] - mean) * scale * gamma[channel] + beta[channel];
    }
  }
}
