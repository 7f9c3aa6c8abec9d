// SPDX-License-Identifier: Apache-2.0
// Row softmax in fp32: y = exp(x - largest of the row) / sum of the same. A block for each row, which it reads three
// times: for the largest element, for the sum and for the result. Device code only: kagent writes the launcher.
#include <cstdint>

#ifndef THREADS
#define THREADS 256
#endif
// Floats that a thread reads and writes at once, where rows are aligned for it.
#ifndef VECTOR
#define VECTOR 1
#endif
// Vectors of a row that a thread has in flight at once.
#ifndef UNROLL
#define UNROLL 1
#endif
// 1: rows of up to 40960 elements are kept in shared memory after they were read once. The launch makes room for them.
#ifndef KEEP_ROW
#define KEEP_ROW 0
#endif
// 0: expf. 1: the device's own approximation of it.
#ifndef EXPONENTIAL
#define EXPONENTIAL 0
#endif

namespace kagent::kernels {
namespace row_softmax_parts {

constexpr int kWarp = 32;
constexpr int kUnroll = UNROLL;
constexpr int kVector = VECTOR;
constexpr int kLongestKept = 40960;

template <int kWidth>
struct alignas(kWidth * sizeof(float)) Floats {
  float element[kWidth];
};

__device__ inline float infinity() {
  return __int_as_float(0x7f800000);
}

__device__ inline float exponential(float x) {
  return EXPONENTIAL == 0 ? expf(x) : __expf(x);
}

// Combines one value of each thread of the block by their sum or their maximum; every thread gets the result.
template <bool kMaximum>
__device__ float reduce_block(float value) {
  __shared__ float of_warp[kWarp];
  const auto combine = [](float a, float b) { return kMaximum ? fmaxf(a, b) : a + b; };
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value = combine(value, __shfl_xor_sync(0xffffffffu, value, lanes));
  if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = threadIdx.x % kWarp < THREADS / kWarp ? of_warp[threadIdx.x % kWarp] : (kMaximum ? -infinity() : 0.0f);
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value = combine(value, __shfl_xor_sync(0xffffffffu, value, lanes));
  return value;
}

// One row, in vectors of kWidth floats. kKept: `kept` holds the row once it was read, each element for one thread.
template <int kWidth, bool kKept>
__device__ void softmax(const float* __restrict__ x, float* __restrict__ y, int cols, float* kept) {
  using Vector = Floats<kWidth>;
  const auto read = [&](int c) { return *reinterpret_cast<const Vector*>((kKept ? kept : x) + c); };

  float largest = -infinity();
#pragma unroll kUnroll
  for (int c = threadIdx.x * kWidth; c < cols; c += THREADS * kWidth) {
    const Vector from = *reinterpret_cast<const Vector*>(x + c);
    if (kKept) *reinterpret_cast<Vector*>(kept + c) = from;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) largest = fmaxf(largest, from.element[i]);
  }
  largest = reduce_block<true>(largest);

  float sum = 0;
#pragma unroll kUnroll
  for (int c = threadIdx.x * kWidth; c < cols; c += THREADS * kWidth) {
    const Vector from = read(c);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) sum += exponential(from.element[i] - largest);
  }
  const float factor = 1.0f / reduce_block<false>(sum);

#pragma unroll kUnroll
  for (int c = threadIdx.x * kWidth; c < cols; c += THREADS * kWidth) {
    const Vector from = read(c);
    Vector to;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) to.element[i] = exponential(from.element[i] - largest) * factor;
    *reinterpret_cast<Vector*>(y + c) = to;
  }
}

}  // namespace row_softmax_parts

__global__ void __launch_bounds__(THREADS)
    row_softmax(const float* __restrict__ x, float* __restrict__ y, std::int32_t rows, std::int32_t cols) {
  using namespace row_softmax_parts;
  extern __shared__ float4 row_kept[];
  float* const kept = reinterpret_cast<float*>(row_kept);
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * cols;
  constexpr bool kKeep = KEEP_ROW != 0;
  (void)rows;  // the number of blocks
  if (cols % kVector == 0 && cols <= kLongestKept)
    softmax<kVector, kKeep>(x + begin, y + begin, cols, kept);
  else if (cols % kVector == 0)
    softmax<kVector, false>(x + begin, y + begin, cols, kept);
  else if (cols <= kLongestKept)
    softmax<1, kKeep>(x + begin, y + begin, cols, kept);
  else
    softmax<1, false>(x + begin, y + begin, cols, kept);
}

}  // namespace kagent::kernels
