// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

// The loops are compiled for the vectors of the machine at hand: an image of real size takes about a second even so.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_THIS_MACHINE \
  __attribute__((optimize("O3"), target_clones("default", "arch=haswell", "arch=skylake-avx512")))
#else
#define FOR_THIS_MACHINE
#endif

// A piece of one row of the output, at most kWidth wide; `columns` is the width of the input.
constexpr std::int64_t kWidth = 256;
FOR_THIS_MACHINE static void convolve(const double* input, const double* filter, double* output, std::int64_t width,
                                      std::int64_t columns) {
  double sums[kWidth] = {};
  for (std::int64_t i = 0; i < 15; ++i)
    for (std::int64_t j = 0; j < 15; j += 3) {
      const double f0 = filter[i * 15 + j], f1 = filter[i * 15 + j + 1], f2 = filter[i * 15 + j + 2];
      const double* from = input + i * columns + j;
      for (std::int64_t x = 0; x < width; ++x) sums[x] += from[x] * f0 + from[x + 1] * f1 + from[x + 2] * f2;
    }
  std::copy_n(sums, width, output);
}

void convolution_2d_reference(const double* input, const double* filter, double* output, int height, int width) {
  const std::int64_t columns = std::int64_t{width} + 14;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; x += kWidth)
      convolve(input + y * columns + x, filter, output + y * width + x, std::min<std::int64_t>(kWidth, width - x),
               columns);
}
