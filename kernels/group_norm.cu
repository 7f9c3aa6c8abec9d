// SPDX-License-Identifier: Apache-2.0
// Group norm of halves, computed in fp32: a block for each group of a sample, whose channels lie one after another in
// memory. It reads them three times, for the mean, the variance and the result.
#include <cstdint>

#include "group_norm.h"

#ifndef THREADS
#define THREADS 512
#endif
// Halves that a thread reads and writes at once, where channels are aligned for it.
#ifndef VECTOR
#define VECTOR 1
#endif
// Vectors that a thread has in flight at once.
#ifndef UNROLL
#define UNROLL 1
#endif

namespace kagent::kernels {
namespace {

constexpr int kWarp = 32;
constexpr int kUnroll = UNROLL;
constexpr int kVector = VECTOR;
constexpr float kEpsilon = 1e-5f;

template <int kWidth>
struct alignas(kWidth * sizeof(__half)) Halves {
  __half element[kWidth];
};

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

// Blocks: groups, samples. Channels are read in vectors of kWidth halves.
template <int kWidth>
__global__ void __launch_bounds__(THREADS)
    normalise_groups(const __half* __restrict__ x, const __half* __restrict__ gamma, const __half* __restrict__ beta,
                     __half* __restrict__ y, int channels_of_group, int positions) {
  using Vector = Halves<kWidth>;
  const std::int64_t group = static_cast<std::int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  const std::int64_t count = static_cast<std::int64_t>(channels_of_group) * positions;
  const int first_channel = blockIdx.x * channels_of_group;
  x += group * count;
  y += group * count;

  float sum = 0;
#pragma unroll kUnroll
  for (std::int64_t i = threadIdx.x * kWidth; i < count; i += THREADS * kWidth) {
    const Vector from = *reinterpret_cast<const Vector*>(x + i);
#pragma unroll
    for (int e = 0; e < kWidth; ++e) sum += __half2float(from.element[e]);
  }
  const float mean = sum_of_block(sum) / static_cast<float>(count);

  float squares = 0;
#pragma unroll kUnroll
  for (std::int64_t i = threadIdx.x * kWidth; i < count; i += THREADS * kWidth) {
    const Vector from = *reinterpret_cast<const Vector*>(x + i);
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      const float deviation = __half2float(from.element[e]) - mean;
      squares += deviation * deviation;
    }
  }
  const float scale = rsqrtf(sum_of_block(squares) / static_cast<float>(count) + kEpsilon);

  for (int c = 0; c < channels_of_group; ++c) {
    const float by = __half2float(gamma[first_channel + c]), plus = __half2float(beta[first_channel + c]);
    const std::int64_t begin = static_cast<std::int64_t>(c) * positions;
#pragma unroll kUnroll
    for (int p = threadIdx.x * kWidth; p < positions; p += THREADS * kWidth) {
      const Vector from = *reinterpret_cast<const Vector*>(x + begin + p);
      Vector to;
#pragma unroll
      for (int e = 0; e < kWidth; ++e)
        to.element[e] = __float2half((__half2float(from.element[e]) - mean) * scale * by + plus);
      *reinterpret_cast<Vector*>(y + begin + p) = to;
    }
  }
}

}  // namespace

void group_norm(const __half* x, const __half* gamma, const __half* beta, __half* y, int batch, int channels,
                int positions, int groups, cudaStream_t stream) {
  if (batch == 0 || channels == 0 || positions == 0) return;
  const dim3 blocks(static_cast<unsigned>(groups), static_cast<unsigned>(batch));
  if (positions % kVector == 0)
    normalise_groups<kVector><<<blocks, THREADS, 0, stream>>>(x, gamma, beta, y, channels / groups, positions);
  else
    normalise_groups<1><<<blocks, THREADS, 0, stream>>>(x, gamma, beta, y, channels / groups, positions);
}

}  // namespace kagent::kernels
