// SPDX-License-Identifier: Apache-2.0
// Row softmax as one writes it first: three plain loops a row. What could be chosen otherwise is a macro, so that
// kagent can choose; the values here are the ones that the project builds with as long as nothing better was found.
#include "softmax.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

// Floats a vector, and vectors that are summed independently of each other: a single running sum of a long row of
// floats loses too many digits.
#ifndef VECTOR
#define VECTOR 1
#endif
#ifndef ACCUMULATORS
#define ACCUMULATORS 4
#endif
// 0: std::exp. 1: a polynomial, which the compiler can put into vectors.
#ifndef EXPONENTIAL
#define EXPONENTIAL 0
#endif
// Steps of a loop that are written out after each other.
#ifndef UNROLL
#define UNROLL 1
#endif
// 0: divide by the sum. 1: multiply by its reciprocal.
#ifndef RECIPROCAL
#define RECIPROCAL 0
#endif
// Columns to prefetch ahead; 0: none.
#ifndef PREFETCH
#define PREFETCH 0
#endif

namespace {

typedef float Floats __attribute__((vector_size(VECTOR * sizeof(float)), aligned(alignof(float)), may_alias));
typedef std::int32_t Ints __attribute__((vector_size(VECTOR * sizeof(std::int32_t))));

constexpr int kStep = VECTOR * ACCUMULATORS;
constexpr int kUnroll = UNROLL;
constexpr float kLowest = -std::numeric_limits<float>::infinity();

// x becomes exp(x), x <= 0 or NaN. With n the integer nearest to x / ln 2: exp(x) = 2^n exp(r), |r| <= ln 2 / 2. 2^n is
// applied in two halves, so that results below the smallest normal number are right too. Polynomial: Cephes' expf.
template <typename Float, typename Int>
inline void polynomial_exp(Float& x) {
  constexpr float kRound = 12582912.0f;   // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
  const Float lowest = Float{} - 104.0f;  // exp(-104) rounds to zero
  x = x < lowest ? lowest : x;
  const Float shifted = x * 1.44269504f + kRound;
  Int n;
  std::memcpy(&n, &shifted, sizeof n);
  n -= 0x4B400000;  // the bits of kRound
  const Float whole = shifted - kRound;
  const Float r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
  Float p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const Int half = n >> 1;
  const Int first_bits = (half + 127) << 23, second_bits = (n - half + 127) << 23;
  Float first, second;
  std::memcpy(&first, &first_bits, sizeof first);
  std::memcpy(&second, &second_bits, sizeof second);
  x = p * first * second;
}

inline void exp_of(float& x) {
  if (EXPONENTIAL == 1)
    polynomial_exp<float, std::int32_t>(x);
  else
    x = std::exp(x);
}

inline void exp_of(Floats& x) {
  if (EXPONENTIAL == 1) {
    polynomial_exp<Floats, Ints>(x);
  } else {
    for (int lane = 0; lane < VECTOR; ++lane) x[lane] = std::exp(x[lane]);
  }
}

float maximum(const float* x, std::int64_t count) {
  Floats best[ACCUMULATORS];
  for (Floats& lanes : best) lanes = Floats{} + kLowest;
  std::int64_t c = 0;
#pragma GCC unroll kUnroll
  for (; c + kStep <= count; c += kStep) {
    if (PREFETCH > 0) __builtin_prefetch(x + c + PREFETCH);
    for (int a = 0; a < ACCUMULATORS; ++a) {
      const Floats value = *reinterpret_cast<const Floats*>(x + c + a * VECTOR);
      best[a] = value > best[a] ? value : best[a];
    }
  }
  float result = kLowest;
  for (const Floats& lanes : best)
    for (int lane = 0; lane < VECTOR; ++lane) result = lanes[lane] > result ? lanes[lane] : result;
  for (; c < count; ++c) result = x[c] > result ? x[c] : result;
  return result;
}

// Writes the exponentials of x - shift to y and returns their sum.
float exponentials(const float* x, float* y, std::int64_t count, float shift) {
  Floats sums[ACCUMULATORS] = {};
  std::int64_t c = 0;
#pragma GCC unroll kUnroll
  for (; c + kStep <= count; c += kStep) {
    for (int a = 0; a < ACCUMULATORS; ++a) {
      Floats value = *reinterpret_cast<const Floats*>(x + c + a * VECTOR) - shift;
      exp_of(value);
      *reinterpret_cast<Floats*>(y + c + a * VECTOR) = value;
      sums[a] += value;
    }
  }
  float sum = 0;
  for (const Floats& lanes : sums)
    for (int lane = 0; lane < VECTOR; ++lane) sum += lanes[lane];
  for (; c < count; ++c) {
    float value = x[c] - shift;
    exp_of(value);
    y[c] = value;
    sum += value;
  }
  return sum;
}

}  // namespace

void softmax_forward(const float* x, float* y, int rows, int cols) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* from = x + row * cols;
    float* to = y + row * cols;
    const float sum = exponentials(from, to, cols, maximum(from, cols));
    const float factor = 1.0f / sum;
    for (int c = 0; c < cols; ++c) to[c] = RECIPROCAL ? to[c] * factor : to[c] / sum;
  }
}
