// SPDX-License-Identifier: Apache-2.0
// Matrix product of halves on tensor cores: each block computes a tile of C from tiles of A and B in shared memory, and
// each warp a part of that in fragments of 16 x 16.
#include <cstdint>

#include <mma.h>

#include "hgemm.h"

// The block's tile of C, and the depth of the tiles of A and B.
#ifndef TILE_M
#define TILE_M 64
#endif
#ifndef TILE_N
#define TILE_N 64
#endif
#ifndef TILE_K
#define TILE_K 32
#endif
// Warps of a block, along m and n.
#ifndef WARPS_M
#define WARPS_M 2
#endif
#ifndef WARPS_N
#define WARPS_N 2
#endif
// Halves that pad each row in shared memory, so that the rows of a fragment lie in different banks.
#ifndef PAD
#define PAD 8
#endif

namespace kagent::kernels {
namespace {

using namespace nvcuda;

constexpr int kWarp = 32;
constexpr int kThreads = WARPS_M * WARPS_N * kWarp;
constexpr int kFragment = 16;
constexpr int kVector = 8;  // halves in 16 bytes
constexpr int kFragmentsM = TILE_M / WARPS_M / kFragment, kFragmentsN = TILE_N / WARPS_N / kFragment;
constexpr int kStagingStride = kFragment + 4;
static_assert(TILE_M % (WARPS_M * kFragment) == 0 && TILE_N % (WARPS_N * kFragment) == 0 && TILE_K % kFragment == 0);

struct alignas(16) EightHalves {
  __half element[kVector];
};

// Copies kRows x kColumns of a matrix to shared memory, where what lies outside of it becomes 0.
template <int kRows, int kColumns, int kStride>
__device__ void load_tile(const __half* __restrict__ from, __half* to, std::int64_t first_row,
                          std::int64_t first_column, int rows, int columns) {
  for (int i = threadIdx.x; i < kRows * kColumns / kVector; i += kThreads) {
    const int r = i / (kColumns / kVector), c = i % (kColumns / kVector) * kVector;
    const std::int64_t row = first_row + r, column = first_column + c;
    EightHalves eight = {};
    if (row < rows && column + kVector <= columns && columns % kVector == 0) {
      eight = *reinterpret_cast<const EightHalves*>(from + row * columns + column);
    } else if (row < rows) {
#pragma unroll
      for (int j = 0; j < kVector; ++j)
        if (column + j < columns) eight.element[j] = from[row * columns + column + j];
    }
    *reinterpret_cast<EightHalves*>(to + r * kStride + c) = eight;
  }
}

__global__ void __launch_bounds__(kThreads)
    multiply(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  constexpr int kStrideA = TILE_K + PAD, kStrideB = TILE_N + PAD;
  alignas(32) __shared__ __half tile_a[TILE_M * kStrideA];
  alignas(32) __shared__ __half tile_b[TILE_K * kStrideB];
  alignas(32) __shared__ float staging[WARPS_M * WARPS_N][kFragment * kStagingStride];

  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * TILE_M;
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.x) * TILE_N;
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const int my_row = warp / WARPS_N * kFragmentsM * kFragment, my_column = warp % WARPS_N * kFragmentsN * kFragment;

  wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float> sums[kFragmentsM][kFragmentsN];
#pragma unroll
  for (int i = 0; i < kFragmentsM; ++i)
#pragma unroll
    for (int j = 0; j < kFragmentsN; ++j) wmma::fill_fragment(sums[i][j], 0.0f);

  for (int p = 0; p < k; p += TILE_K) {
    load_tile<TILE_M, TILE_K, kStrideA>(a, tile_a, first_row, p, m, k);
    load_tile<TILE_K, TILE_N, kStrideB>(b, tile_b, p, first_column, k, n);
    __syncthreads();
#pragma unroll
    for (int depth = 0; depth < TILE_K; depth += kFragment) {
      wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, __half, wmma::row_major> of_a[kFragmentsM];
      wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, __half, wmma::row_major> of_b[kFragmentsN];
#pragma unroll
      for (int i = 0; i < kFragmentsM; ++i)
        wmma::load_matrix_sync(of_a[i], tile_a + (my_row + i * kFragment) * kStrideA + depth, kStrideA);
#pragma unroll
      for (int j = 0; j < kFragmentsN; ++j)
        wmma::load_matrix_sync(of_b[j], tile_b + depth * kStrideB + my_column + j * kFragment, kStrideB);
#pragma unroll
      for (int i = 0; i < kFragmentsM; ++i)
#pragma unroll
        for (int j = 0; j < kFragmentsN; ++j) wmma::mma_sync(sums[i][j], of_a[i], of_b[j], sums[i][j]);
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < kFragmentsM; ++i)
#pragma unroll
    for (int j = 0; j < kFragmentsN; ++j) {
      wmma::store_matrix_sync(staging[warp], sums[i][j], kStagingStride, wmma::mem_row_major);
      __syncwarp();
#pragma unroll
      for (int e = lane; e < kFragment * kFragment; e += kWarp) {
        const int r = e / kFragment, column_in = e % kFragment;
        const std::int64_t row = first_row + my_row + i * kFragment + r;
        const std::int64_t column = first_column + my_column + j * kFragment + column_in;
        if (row < m && column < n) c[row * n + column] = staging[warp][r * kStagingStride + column_in];
      }
      __syncwarp();
    }
}

}  // namespace

void hgemm(const __half* a, const __half* b, float* c, int m, int n, int k, cudaStream_t stream) {
  if (m == 0 || n == 0) return;
  const dim3 blocks(static_cast<unsigned>((n - 1) / TILE_N + 1), static_cast<unsigned>((m - 1) / TILE_M + 1));
  multiply<<<blocks, kThreads, 0, stream>>>(a, b, c, m, n, k);
}

}  // namespace kagent::kernels
