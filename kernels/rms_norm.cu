// SPDX-License-Identifier: Apache-2.0
// RMS norm of rows of bfloat16, computed in fp32: a block for each row, which it reads twice.
#include <cstdint>

#include "rms_norm.h"

#ifndef THREADS
#define THREADS 256
#endif
// Numbers that a thread reads and writes at once, where rows are aligned for it.
#ifndef VECTOR
#define VECTOR 1
#endif
// Vectors of a row that a thread has in flight at once.
#ifndef UNROLL
#define UNROLL 1
#endif

namespace kagent::kernels {
namespace {

constexpr int kWarp = 32;
constexpr int kUnroll = UNROLL;
constexpr int kVector = VECTOR;
constexpr float kEpsilon = 1e-6f;

template <int kWidth>
struct alignas(kWidth * sizeof(__nv_bfloat16)) Numbers {
  __nv_bfloat16 element[kWidth];
};

// Sum over the threads of the block; every thread gets it.
__device__ float sum_of_block(float value) {
  __shared__ float of_warp[kWarp];
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
  if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = threadIdx.x % kWarp < THREADS / kWarp ? of_warp[threadIdx.x % kWarp] : 0.0f;
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
  return value;
}

template <int kWidth>
__global__ void __launch_bounds__(THREADS)
    normalise_rows(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                   __nv_bfloat16* __restrict__ y, int cols) {
  using Vector = Numbers<kWidth>;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * cols;
  float squares = 0;
#pragma unroll kUnroll
  for (int c = threadIdx.x * kWidth; c < cols; c += THREADS * kWidth) {
    const Vector from = *reinterpret_cast<const Vector*>(x + begin + c);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const float value = __bfloat162float(from.element[i]);
      squares += value * value;
    }
  }
  const float scale = rsqrtf(sum_of_block(squares) / cols + kEpsilon);

#pragma unroll kUnroll
  for (int c = threadIdx.x * kWidth; c < cols; c += THREADS * kWidth) {
    const Vector from = *reinterpret_cast<const Vector*>(x + begin + c);
    const Vector by = *reinterpret_cast<const Vector*>(weight + c);
    Vector to;
#pragma unroll
    for (int i = 0; i < kWidth; ++i)
      to.element[i] = __float2bfloat16(__bfloat162float(from.element[i]) * scale * __bfloat162float(by.element[i]));
    *reinterpret_cast<Vector*>(y + begin + c) = to;
  }
}

}  // namespace

void rms_norm(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* y, int rows, int cols,
              cudaStream_t stream) {
  if (rows == 0 || cols == 0) return;
  if (cols % kVector == 0)
    normalise_rows<kVector><<<rows, THREADS, 0, stream>>>(x, weight, y, cols);
  else
    normalise_rows<1><<<rows, THREADS, 0, stream>>>(x, weight, y, cols);
}

}  // namespace kagent::kernels
