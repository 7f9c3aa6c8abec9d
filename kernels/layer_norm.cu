// SPDX-License-Identifier: Apache-2.0
// Layer norm of rows of halves, computed in fp32: a block for each row, which it reads three times, for the mean, the
// variance and the result. Squares are summed of deviations: the difference of two large sums would lose small
// variances.
#include <cstdint>

#include "layer_norm.h"

#ifndef THREADS
#define THREADS 256
#endif
// Halves that a thread reads and writes at once, where rows are aligned for it.
#ifndef VECTOR
#define VECTOR 1
#endif
// Vectors of a row that a thread has in flight at once.
#ifndef UNROLL
#define UNROLL 1
#endif
// 1: the row is kept in shared memory as fp32 after it was read once, if it fits into 48 KiB.
#ifndef KEEP_ROW
#define KEEP_ROW 0
#endif

namespace kagent::kernels {
namespace {

constexpr int kWarp = 32;
constexpr int kUnroll = UNROLL;
constexpr int kVector = VECTOR;
constexpr float kEpsilon = 1e-5f;
constexpr int kLongestKept = 48 * 1024 / sizeof(float) - kWarp;

// Sum over the threads of the block; every thread gets it.
__device__ float sum_of_block(float value) {
  __shared__ float of_warp[kWarp];
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
  __syncthreads();  // of_warp may still be read for the sum before this one
  if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = threadIdx.x % kWarp < THREADS / kWarp ? of_warp[threadIdx.x % kWarp] : 0.0f;
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
  return value;
}

template <int kWidth>
struct alignas(kWidth * sizeof(__half)) Halves {
  __half element[kWidth];
};

// One row, in vectors of kWidth halves. kKept: `kept` holds the row once it was read.
template <int kWidth, bool kKept>
__device__ void normalise(const __half* __restrict__ x, const __half* __restrict__ gamma,
                          const __half* __restrict__ beta, __half* __restrict__ y, int cols, float* kept) {
  using Vector = Halves<kWidth>;
  float sum = 0;
#pragma unroll kUnroll
  for (int c = threadIdx.x * kWidth; c < cols; c += THREADS * kWidth) {
    const Vector from = *reinterpret_cast<const Vector*>(x + c);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const float value = __half2float(from.element[i]);
      if (kKept) kept[c + i] = value;
      sum += value;
    }
  }
  const float mean = sum_of_block(sum) / cols;

  float squares = 0;
#pragma unroll kUnroll
  for (int c = threadIdx.x * kWidth; c < cols; c += THREADS * kWidth) {
    const Vector from = kKept ? Vector{} : *reinterpret_cast<const Vector*>(x + c);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const float deviation = (kKept ? kept[c + i] : __half2float(from.element[i])) - mean;
      squares += deviation * deviation;
    }
  }
  const float scale = rsqrtf(sum_of_block(squares) / cols + kEpsilon);

#pragma unroll kUnroll
  for (int c = threadIdx.x * kWidth; c < cols; c += THREADS * kWidth) {
    const Vector from = kKept ? Vector{} : *reinterpret_cast<const Vector*>(x + c);
    const Vector by = *reinterpret_cast<const Vector*>(gamma + c);
    const Vector plus = *reinterpret_cast<const Vector*>(beta + c);
    Vector to;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const float deviation = (kKept ? kept[c + i] : __half2float(from.element[i])) - mean;
      to.element[i] = __float2half(deviation * scale * __half2float(by.element[i]) + __half2float(plus.element[i]));
    }
    *reinterpret_cast<Vector*>(y + c) = to;
  }
}

template <int kWidth, bool kKept>
__global__ void __launch_bounds__(THREADS)
    normalise_rows(const __half* __restrict__ x, const __half* __restrict__ gamma, const __half* __restrict__ beta,
                   __half* __restrict__ y, int cols) {
  extern __shared__ float row_kept[];
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * cols;
  normalise<kWidth, kKept>(x + begin, gamma, beta, y + begin, cols, row_kept);
}

}  // namespace

void layer_norm(const __half* x, const __half* gamma, const __half* beta, __half* y, int rows, int cols,
                cudaStream_t stream) {
  if (rows == 0 || cols == 0) return;
  constexpr bool kKeep = KEEP_ROW != 0;
  const std::size_t kept_bytes = kKeep ? cols * sizeof(float) : 0;
  const bool aligned = cols % kVector == 0, fits = cols <= kLongestKept;
  if (aligned && fits)
    normalise_rows<kVector, kKeep><<<rows, THREADS, kept_bytes, stream>>>(x, gamma, beta, y, cols);
  else if (aligned)
    normalise_rows<kVector, false><<<rows, THREADS, 0, stream>>>(x, gamma, beta, y, cols);
  else if (fits)
    normalise_rows<1, kKeep><<<rows, THREADS, kept_bytes, stream>>>(x, gamma, beta, y, cols);
  else
    normalise_rows<1, false><<<rows, THREADS, 0, stream>>>(x, gamma, beta, y, cols);
}

}  // namespace kagent::kernels
