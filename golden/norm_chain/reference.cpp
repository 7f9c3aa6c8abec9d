// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

// Philox4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
struct Words {
  std::uint32_t word[4];
};

Words philox(std::uint64_t counter, std::uint64_t key) {
  Words w{{static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0}};
  auto key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53} * w.word[0], second = std::uint64_t{0xCD9E8D57} * w.word[2];
    w = {{static_cast<std::uint32_t>(second >> 32) ^ w.word[1] ^ key0, static_cast<std::uint32_t>(second),
          static_cast<std::uint32_t>(first >> 32) ^ w.word[3] ^ key1, static_cast<std::uint32_t>(first)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return w;
}

// Layer norm, then softmax, of one row.
void probabilities(const double* x, const double* gamma, const double* beta, double* p, int cols) {
  double mean = 0, variance = 0, largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int c = 0; c < cols; ++c) mean += x[c];
  mean /= cols;
  for (int c = 0; c < cols; ++c) variance += (x[c] - mean) * (x[c] - mean);
  variance /= cols;
  const double scale = 1 / std::sqrt(variance + 1e-5);
  for (int c = 0; c < cols; ++c) {
    p[c] = (x[c] - mean) * scale * gamma[c] + beta[c];
    if (p[c] > largest) largest = p[c];
  }
  for (int c = 0; c < cols; ++c) sum += p[c] = std::exp(p[c] - largest);
  for (int c = 0; c < cols; ++c) p[c] /= sum;
}

}  // namespace

void norm_chain_reference(const double* x, const double* residual, const double* gamma, const double* beta, double* out,
                          double*, double*, int rows, int cols, double drop_probability, std::uint64_t seed) {
  const auto threshold = static_cast<std::uint32_t>(drop_probability * 4294967296.0);
  std::vector<double> p(static_cast<std::size_t>(cols));
  Words words{};
  for (std::int64_t row = 0; row < rows; ++row) {
    probabilities(x + row * cols, gamma, beta, p.data(), cols);
    for (int c = 0; c < cols; ++c) {
      const std::int64_t i = row * cols + c;
      if (i % 4 == 0 || c == 0) words = philox(static_cast<std::uint64_t>(i / 4), seed);
      const bool dropped = words.word[i % 4] < threshold;
      out[i] = residual[i] + (dropped ? 0 : p[static_cast<std::size_t>(c)] / (1 - drop_probability));
    }
  }
}
