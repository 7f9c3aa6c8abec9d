// SPDX-License-Identifier: Apache-2.0
// Matrix product in fp32: each block computes a tile of C from tiles of A and B in shared memory, and each thread a
// small tile of that in registers.
#include <cstdint>

#include "sgemm.h"

// The block's tile of C, and the depth of the tiles of A and B.
#ifndef TILE_M
#define TILE_M 64
#endif
#ifndef TILE_N
#define TILE_N 64
#endif
#ifndef TILE_K
#define TILE_K 16
#endif
// The tile of C that a thread keeps in registers.
#ifndef THREAD_M
#define THREAD_M 4
#endif
#ifndef THREAD_N
#define THREAD_N 4
#endif
// Floats that pad each row of A's tile, which lies transposed.
#ifndef PAD
#define PAD 0
#endif
// Steps through a tile's depth that are written out after each other.
#ifndef UNROLL
#define UNROLL 16
#endif

namespace kagent::kernels {
namespace {

constexpr int kColumnsOfThreads = TILE_N / THREAD_N;
constexpr int kThreads = TILE_M / THREAD_M * kColumnsOfThreads;
constexpr int kUnroll = UNROLL;

__global__ void __launch_bounds__(kThreads)
    multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  __shared__ float tile_a[TILE_K][TILE_M + PAD];
  __shared__ float tile_b[TILE_K][TILE_N];

  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * TILE_M;
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.x) * TILE_N;
  const int thread = threadIdx.x;
  const int my_row = thread / kColumnsOfThreads * THREAD_M;
  const int my_column = thread % kColumnsOfThreads * THREAD_N;

  float sums[THREAD_M][THREAD_N] = {};
  for (int p = 0; p < k; p += TILE_K) {
    for (int i = thread; i < TILE_M * TILE_K; i += kThreads) {
      const int row = i / TILE_K, depth = i % TILE_K;
      const bool inside = first_row + row < m && p + depth < k;
      tile_a[depth][row] = inside ? a[(first_row + row) * k + p + depth] : 0.0f;
    }
    for (int i = thread; i < TILE_K * TILE_N; i += kThreads) {
      const int depth = i / TILE_N, column = i % TILE_N;
      const bool inside = p + depth < k && first_column + column < n;
      tile_b[depth][column] = inside ? b[static_cast<std::int64_t>(p + depth) * n + first_column + column] : 0.0f;
    }
    __syncthreads();
#pragma unroll kUnroll
    for (int depth = 0; depth < TILE_K; ++depth) {
      float of_a[THREAD_M], of_b[THREAD_N];
#pragma unroll
      for (int i = 0; i < THREAD_M; ++i) of_a[i] = tile_a[depth][my_row + i];
#pragma unroll
      for (int j = 0; j < THREAD_N; ++j) of_b[j] = tile_b[depth][my_column + j];
#pragma unroll
      for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) sums[i][j] += of_a[i] * of_b[j];
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
    for (int j = 0; j < THREAD_N; ++j) {
      const std::int64_t row = first_row + my_row + i, column = first_column + my_column + j;
      if (row < m && column < n) c[row * n + column] = sums[i][j];
    }
}

}  // namespace

void sgemm(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
  if (m == 0 || n == 0) return;
  const dim3 blocks(static_cast<unsigned>((n - 1) / TILE_N + 1), static_cast<unsigned>((m - 1) / TILE_M + 1));
  multiply<<<blocks, kThreads, 0, stream>>>(a, b, c, m, n, k);
}

}  // namespace kagent::kernels
