// SPDX-License-Identifier: Apache-2.0
// Layer norm, softmax, dropout and the residual sum, in three kernels that hand rows to each other through memory:
//
//   n   = (x - mean) / sqrt(variance + 1e-5) * gamma + beta    mean and variance (of all, not of a sample) of the row
//   p   = softmax of the row of n
//   out = residual + p / (1 - drop_probability), or residual alone where the element is dropped
//
// What the kernels hand over is fp32: exp() turns the absolute error of n into a relative one, and residual + p may
// cancel, so that only the result is rounded to fp16.
//
// Dropout contract: element i = row * cols + col is dropped if word i % 4 of Philox4x32-10 (Salmon et al., "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011) is below floor(drop_probability * 2^32), for the counter
// (low half of i / 4, high half of i / 4, 0, 0) and the key (low half of seed, high half of seed).
#include "norm_chain.h"

// Threads of a block in each kernel.
#ifndef NORM_THREADS
#define NORM_THREADS 256
#endif
#ifndef SOFTMAX_THREADS
#define SOFTMAX_THREADS 256
#endif
#ifndef DROPOUT_THREADS
#define DROPOUT_THREADS 256
#endif
// Groups of four elements that a thread of the dropout kernel takes.
#ifndef GROUPS
#define GROUPS 1
#endif
// Elements of a row that a thread has in flight at once.
#ifndef UNROLL
#define UNROLL 1
#endif

namespace kagent::kernels {
namespace {

constexpr int kWarp = 32;
constexpr int kGroups = GROUPS;
constexpr int kUnroll = UNROLL;
constexpr float kEpsilon = 1e-5f;
constexpr float kInfinity = __builtin_huge_valf();

__device__ float sum_of(float a, float b) {
  return a + b;
}
__device__ float larger_of(float a, float b) {
  return fmaxf(a, b);
}

// Combines one value of each thread of the block; every thread gets the result.
template <int kThreads, float (*combine)(float, float)>
__device__ float reduce_block(float value, float neutral) {
  __shared__ float of_warp[kWarp];
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value = combine(value, __shfl_xor_sync(0xffffffffu, value, lanes));
  __syncthreads();  // of_warp may still be read for the reduction before this one
  if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = threadIdx.x % kWarp < kThreads / kWarp ? of_warp[threadIdx.x % kWarp] : neutral;
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value = combine(value, __shfl_xor_sync(0xffffffffu, value, lanes));
  return value;
}

__global__ void __launch_bounds__(NORM_THREADS)
    normalise_rows(const __half* __restrict__ x, const __half* __restrict__ gamma, const __half* __restrict__ beta,
                   float* __restrict__ normalised, int cols) {
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * cols;
  float sum = 0;
#pragma unroll kUnroll
  for (int c = threadIdx.x; c < cols; c += NORM_THREADS) sum += __half2float(x[begin + c]);
  const float mean = reduce_block<NORM_THREADS, sum_of>(sum, 0) / cols;

  float squares = 0;
#pragma unroll kUnroll
  for (int c = threadIdx.x; c < cols; c += NORM_THREADS) {
    const float deviation = __half2float(x[begin + c]) - mean;
    squares += deviation * deviation;
  }
  const float scale = rsqrtf(reduce_block<NORM_THREADS, sum_of>(squares, 0) / cols + kEpsilon);

#pragma unroll kUnroll
  for (int c = threadIdx.x; c < cols; c += NORM_THREADS)
    normalised[begin + c] =
        (__half2float(x[begin + c]) - mean) * scale * __half2float(gamma[c]) + __half2float(beta[c]);
}

__global__ void __launch_bounds__(SOFTMAX_THREADS)
    softmax_rows(const float* __restrict__ normalised, float* __restrict__ probability, int cols) {
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * cols;
  float largest = -kInfinity;
#pragma unroll kUnroll
  for (int c = threadIdx.x; c < cols; c += SOFTMAX_THREADS) largest = fmaxf(largest, normalised[begin + c]);
  largest = reduce_block<SOFTMAX_THREADS, larger_of>(largest, -kInfinity);

  float sum = 0;
#pragma unroll kUnroll
  for (int c = threadIdx.x; c < cols; c += SOFTMAX_THREADS) sum += expf(normalised[begin + c] - largest);
  const float factor = 1.0f / reduce_block<SOFTMAX_THREADS, sum_of>(sum, 0);

#pragma unroll kUnroll
  for (int c = threadIdx.x; c < cols; c += SOFTMAX_THREADS)
    probability[begin + c] = expf(normalised[begin + c] - largest) * factor;
}

__device__ uint4 philox(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned low0 = 0xD2511F53u * counter.x, high0 = __umulhi(0xD2511F53u, counter.x);
    const unsigned low1 = 0xCD9E8D57u * counter.z, high1 = __umulhi(0xCD9E8D57u, counter.z);
    counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

struct alignas(8) FourHalves {
  __half element[4];
};

// A group of four elements shares one call of the generator.
__global__ void __launch_bounds__(DROPOUT_THREADS)
    drop_and_add(const float* __restrict__ probability, const __half* __restrict__ residual, __half* __restrict__ out,
                 std::int64_t count, float scale, unsigned threshold, uint2 key) {
#pragma unroll kGroups
  for (int g = 0; g < kGroups; ++g) {
    const std::int64_t group = (static_cast<std::int64_t>(blockIdx.x) * kGroups + g) * DROPOUT_THREADS + threadIdx.x;
    const std::int64_t begin = 4 * group;
    if (begin >= count) return;
    const uint4 words = philox(make_uint4(static_cast<unsigned>(group), static_cast<unsigned>(group >> 32), 0, 0), key);
    const bool dropped[4] = {words.x < threshold, words.y < threshold, words.z < threshold, words.w < threshold};
    if (begin + 4 <= count) {
      const float4 four = *reinterpret_cast<const float4*>(probability + begin);
      const float p[4] = {four.x, four.y, four.z, four.w};
      FourHalves sum = *reinterpret_cast<const FourHalves*>(residual + begin);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (!dropped[i]) sum.element[i] = __float2half(__half2float(sum.element[i]) + p[i] * scale);
      *reinterpret_cast<FourHalves*>(out + begin) = sum;
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (begin + i >= count) break;
        const float add = dropped[i] ? 0.0f : probability[begin + i] * scale;
        out[begin + i] = __float2half(__half2float(residual[begin + i]) + add);
      }
    }
  }
}

}  // namespace

void norm_chain(const __half* x, const __half* residual, const __half* gamma, const __half* beta, __half* out,
                float* normalised, float* probability, int rows, int cols, float drop_probability, std::uint64_t seed,
                cudaStream_t stream) {
  const std::int64_t count = static_cast<std::int64_t>(rows) * cols;
  if (count == 0) return;
  normalise_rows<<<rows, NORM_THREADS, 0, stream>>>(x, gamma, beta, normalised, cols);
  softmax_rows<<<rows, SOFTMAX_THREADS, 0, stream>>>(normalised, probability, cols);

  constexpr std::int64_t kPerBlock = std::int64_t{4} * DROPOUT_THREADS * GROUPS;
  const unsigned blocks = static_cast<unsigned>((count + kPerBlock - 1) / kPerBlock);
  const unsigned threshold = static_cast<unsigned>(drop_probability * 4294967296.0f);
  const uint2 key = make_uint2(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
  drop_and_add<<<blocks, DROPOUT_THREADS, 0, stream>>>(probability, residual, out, count,
                                                       1.0f / (1.0f - drop_probability), threshold, key);
}

}  // namespace kagent::kernels
