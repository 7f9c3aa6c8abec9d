// SPDX-License-Identifier: Apache-2.0
// Row softmax: y[r][c] = exp(x[r][c] - max over c of x[r]) / sum over c of the same, for rows of floats.
// Subtracting the row's maximum keeps every exponential in (0, 1], so that large inputs do not overflow.
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
// 3: maximum; exponentials and their sum; scaling. 2: maximum and sum together, block by block, then the exponentials
// again.
#ifndef PASSES
#define PASSES 3
#endif
// Columns of a block, with PASSES 2.
#ifndef BLOCK
#define BLOCK 512
#endif
// 0: divide by the sum. 1: multiply by its reciprocal.
#ifndef RECIPROCAL
#define RECIPROCAL 0
#endif
// Columns to prefetch ahead; 0: none.
#ifndef PREFETCH
#define PREFETCH 0
#endif

namespace kagent::kernels {
namespace {

typedef float Floats __attribute__((vector_size(VECTOR * sizeof(float)), aligned(alignof(float)), may_alias));
typedef std::int32_t Ints __attribute__((vector_size(VECTOR * sizeof(std::int32_t))));

constexpr int kStep = VECTOR * ACCUMULATORS;
constexpr float kLowest = -std::numeric_limits<float>::infinity();

// x becomes exp(x), x <= 0 or NaN. With n the integer nearest to x / ln 2: exp(x) = 2^n exp(r), |r| <= ln 2 / 2, where
// ln 2 is taken off in two parts so that r keeps all its bits. 2^n is applied in two halves, so that results below the
// smallest normal number are right too. Polynomial: the degree-6 minimax of Cephes' expf.
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

inline float exp_of(float x) {
#if EXPONENTIAL == 1
  polynomial_exp<float, std::int32_t>(x);
  return x;
#else
  return std::exp(x);
#endif
}

inline void exp_in_place(Floats& x) {
#if EXPONENTIAL == 1
  polynomial_exp<Floats, Ints>(x);
#else
  for (int lane = 0; lane < VECTOR; ++lane) x[lane] = std::exp(x[lane]);
#endif
}

inline void prefetch(const float* address) {
#if PREFETCH > 0
  __builtin_prefetch(address + PREFETCH);
#else
  (void)address;
#endif
}

float maximum(const float* x, std::int64_t count) {
  Floats best[ACCUMULATORS];
  for (Floats& lane : best) lane = Floats{} + kLowest;
  std::int64_t c = 0;
  for (; c + kStep <= count; c += kStep) {
    prefetch(x + c);
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

// Sum of exp(x - shift); the exponentials are written to y unless it is null.
template <bool kStore>
float sum_of_exp(const float* x, float* y, std::int64_t count, float shift) {
  Floats sums[ACCUMULATORS] = {};
  std::int64_t c = 0;
  for (; c + kStep <= count; c += kStep) {
    if (!kStore) prefetch(x + c);
    for (int a = 0; a < ACCUMULATORS; ++a) {
      Floats value = *reinterpret_cast<const Floats*>(x + c + a * VECTOR) - shift;
      exp_in_place(value);
      if (kStore) *reinterpret_cast<Floats*>(y + c + a * VECTOR) = value;
      sums[a] += value;
    }
  }
  float result = 0;
  for (const Floats& lanes : sums)
    for (int lane = 0; lane < VECTOR; ++lane) result += lanes[lane];
  for (; c < count; ++c) {
    const float value = exp_of(x[c] - shift);
    if (kStore) y[c] = value;
    result += value;
  }
  return result;
}

inline void normalise(float* y, std::int64_t count, float sum) {
  const float factor = 1.0f / sum;
  for (std::int64_t c = 0; c < count; ++c) y[c] = RECIPROCAL ? y[c] * factor : y[c] / sum;
}

void row_in_three_passes(const float* x, float* y, std::int64_t count) {
  const float shift = maximum(x, count);
  normalise(y, count, sum_of_exp<true>(x, y, count, shift));
}

// The sum so far is rescaled whenever a block brings a new maximum. While all that was seen is -infinity, its
// exponentials are taken as they are (0): relative to a maximum of -infinity they would be NaN for good.
void row_in_two_passes(const float* x, float* y, std::int64_t count) {
  float shift = kLowest, sum = 0;
  for (std::int64_t begin = 0; begin < count; begin += BLOCK) {
    const std::int64_t length = count - begin < BLOCK ? count - begin : BLOCK;
    const float block_maximum = maximum(x + begin, length);
    if (block_maximum > shift) {
      sum *= exp_of(shift - block_maximum);
      shift = block_maximum;
    }
    sum += sum_of_exp<false>(x + begin, nullptr, length, shift == kLowest ? 0 : shift);
  }
  for (std::int64_t begin = 0; begin < count; begin += BLOCK) {
    const std::int64_t length = count - begin < BLOCK ? count - begin : BLOCK;
    sum_of_exp<true>(x + begin, y + begin, length, shift);
    normalise(y + begin, length, sum);
  }
}

}  // namespace

void softmax_forward(const float* x, float* y, int rows, int cols) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* from = x + row * cols;
    float* to = y + row * cols;
    if (PASSES == 3)
      row_in_three_passes(from, to, cols);
    else
      row_in_two_passes(from, to, cols);
  }
}

}  // namespace kagent::kernels
