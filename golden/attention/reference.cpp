// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

// The loops are compiled for the vectors of the machine at hand: a prompt of real length takes seconds even so.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_THIS_MACHINE \
  __attribute__((optimize("O3"), target_clones("default", "arch=haswell", "arch=skylake-avx512")))
#else
#define FOR_THIS_MACHINE
#endif

constexpr std::int64_t kDimension = 64;

// row[i] = sum over j of factors[j] * matrix[j][i]
FOR_THIS_MACHINE static void combine_rows(const double* factors, std::int64_t count, const double* matrix, double* row,
                                          std::int64_t width) {
  std::fill_n(row, width, 0.0);
  std::int64_t j = 0;
  for (; j + 4 <= count; j += 4) {
    const double f0 = factors[j], f1 = factors[j + 1], f2 = factors[j + 2], f3 = factors[j + 3];
    const double *m0 = matrix + j * width, *m1 = m0 + width, *m2 = m1 + width, *m3 = m2 + width;
    for (std::int64_t i = 0; i < width; ++i) row[i] += f0 * m0[i] + f1 * m1[i] + f2 * m2[i] + f3 * m3[i];
  }
  for (; j < count; ++j)
    for (std::int64_t i = 0; i < width; ++i) row[i] += factors[j] * matrix[j * width + i];
}

void attention_reference(const double* q, const double* k, const double* v, double* out, double*, int heads,
                         int queries, int keys) {
  const std::int64_t width = keys;
  std::vector<double> turned(static_cast<std::size_t>(kDimension * width)), p(static_cast<std::size_t>(width));
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t key = 0; key < width; ++key)
      for (std::int64_t d = 0; d < kDimension; ++d)
        turned[static_cast<std::size_t>(d * width + key)] = k[(head * width + key) * kDimension + d];
    for (std::int64_t query = 0; query < queries; ++query) {
      const std::int64_t row = (head * queries + query) * kDimension;
      combine_rows(q + row, kDimension, turned.data(), p.data(), width);
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      for (double& score : p) {
        score /= 8;
        if (score > largest) largest = score;
      }
      for (double& score : p) sum += score = std::exp(score - largest);
      for (double& score : p) score /= sum;
      combine_rows(p.data(), width, v + head * width * kDimension, out + row, kDimension);
    }
  }
}
