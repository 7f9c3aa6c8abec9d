// SPDX-License-Identifier: Apache-2.0
// Sum of floats in two passes without atomic additions: each block sums its share into one number, and one block sums
// those. Each thread keeps several sums, which are short enough that fp32 does.
#include "reduce_sum.h"

#ifndef BLOCKS
#define BLOCKS 528
#endif
#ifndef THREADS
#define THREADS 256
#endif
// Floats that a thread reads at once.
#ifndef VECTOR
#define VECTOR 1
#endif
// Vectors that a thread has in flight at once.
#ifndef UNROLL
#define UNROLL 4
#endif

namespace kagent::kernels {
namespace {

constexpr int kWarp = 32;
constexpr int kUnroll = UNROLL;
constexpr int kVector = VECTOR;
static_assert(BLOCKS <= 1056, "there is room for 1056 partial sums");

struct alignas(VECTOR * sizeof(float)) Floats {
  float element[VECTOR];
};

// Sum over the threads of the block, for its first thread.
__device__ float sum_of_block(float value) {
  __shared__ float of_warp[kWarp];
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value += __shfl_down_sync(0xffffffffu, value, lanes);
  if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = threadIdx.x < THREADS / kWarp ? of_warp[threadIdx.x] : 0.0f;
  if (threadIdx.x < kWarp)
    for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value += __shfl_down_sync(0xffffffffu, value, lanes);
  return value;
}

__global__ void __launch_bounds__(THREADS)
    sum_shares(const float* __restrict__ x, float* __restrict__ partial, std::int64_t count) {
  constexpr std::int64_t kStride = std::int64_t{BLOCKS} * THREADS;
  const std::int64_t vectors = count / kVector, mine = std::int64_t{blockIdx.x} * THREADS + threadIdx.x;
  const Floats* from = reinterpret_cast<const Floats*>(x);
  float sums[kUnroll][kVector] = {};
  std::int64_t v = mine;
  for (; v + (kUnroll - 1) * kStride < vectors; v += kUnroll * kStride) {
    Floats values[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) values[u] = from[v + u * kStride];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
#pragma unroll
      for (int i = 0; i < kVector; ++i) sums[u][i] += values[u].element[i];
  }
  for (; v < vectors; v += kStride) {
    const Floats value = from[v];
#pragma unroll
    for (int i = 0; i < kVector; ++i) sums[0][i] += value.element[i];
  }
  float sum = 0;
#pragma unroll
  for (int u = 0; u < kUnroll; ++u)
#pragma unroll
    for (int i = 0; i < kVector; ++i) sum += sums[u][i];
  if (const std::int64_t rest = vectors * kVector + mine; rest < count) sum += x[rest];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(THREADS) sum_partial(const float* __restrict__ partial, float* __restrict__ sum) {
  float value = 0;
  for (int i = threadIdx.x; i < BLOCKS; i += THREADS) value += partial[i];
  value = sum_of_block(value);
  if (threadIdx.x == 0) *sum = value;
}

}  // namespace

void reduce_sum(const float* x, float* sum, float* partial, std::int64_t count, cudaStream_t stream) {
  sum_shares<<<BLOCKS, THREADS, 0, stream>>>(x, partial, count);
  sum_partial<<<1, THREADS, 0, stream>>>(partial, sum);
}

}  // namespace kagent::kernels
