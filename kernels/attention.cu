// SPDX-License-Identifier: Apache-2.0
// Attention, forward, with all scores in memory: q k^T / 8, then the softmax of each row, then its product with v.
// Halves go in and out, everything between is fp32.
#include <cstdint>

#include "attention.h"

// Rows of a block's tile in both products, which is 64 wide, and how deep the tiles in shared memory are.
#ifndef TILE_M
#define TILE_M 64
#endif
#ifndef TILE_K
#define TILE_K 16
#endif
// The part of the tile that a thread keeps in registers.
#ifndef THREAD_M
#define THREAD_M 4
#endif
#ifndef THREAD_N
#define THREAD_N 4
#endif
// Threads of a block in the softmax.
#ifndef SOFTMAX_THREADS
#define SOFTMAX_THREADS 256
#endif

namespace kagent::kernels {
namespace {

constexpr int kWarp = 32;
constexpr int kDimension = 64;
constexpr float kScale = 0.125f;  // 1 / sqrt(64)
constexpr int kTileN = 64;
constexpr int kColumnsOfThreads = kTileN / THREAD_N;
constexpr int kThreads = TILE_M / THREAD_M * kColumnsOfThreads;
constexpr float kInfinity = __builtin_huge_valf();

// sums += A B for the block's tile: read_a(row, depth) and read_b(depth, column) give elements, 0 outside.
// kBByColumn: neighbours along the depth of B are neighbours in memory.
template <bool kBByColumn, class ReadA, class ReadB>
__device__ void multiply_tile(float (&sums)[THREAD_M][THREAD_N], int depth_of_all, const ReadA& read_a,
                              const ReadB& read_b) {
  __shared__ float tile_a[TILE_K][TILE_M + 1];
  __shared__ float tile_b[TILE_K][kTileN + 1];
  const int my_row = threadIdx.x / kColumnsOfThreads * THREAD_M, my_column = threadIdx.x % kColumnsOfThreads * THREAD_N;
  for (int p = 0; p < depth_of_all; p += TILE_K) {
    for (int i = threadIdx.x; i < TILE_M * TILE_K; i += kThreads)
      tile_a[i % TILE_K][i / TILE_K] = read_a(i / TILE_K, p + i % TILE_K);
    for (int i = threadIdx.x; i < TILE_K * kTileN; i += kThreads) {
      const int depth = kBByColumn ? i % TILE_K : i / kTileN, column = kBByColumn ? i / TILE_K : i % kTileN;
      tile_b[depth][column] = read_b(p + depth, column);
    }
    __syncthreads();
#pragma unroll
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
}

// Blocks: tiles of keys, tiles of queries, heads.
__global__ void __launch_bounds__(kThreads)
    multiply_queries_and_keys(const __half* __restrict__ q, const __half* __restrict__ k, float* __restrict__ scores,
                              int queries, int keys) {
  const std::int64_t head = blockIdx.z;
  const int first_query = blockIdx.y * TILE_M, first_key = blockIdx.x * kTileN;
  q += head * queries * kDimension;
  k += head * keys * kDimension;
  float sums[THREAD_M][THREAD_N] = {};
  multiply_tile<true>(
      sums, kDimension,
      [&](int row, int depth) {
        const std::int64_t query = first_query + row;
        return query < queries && depth < kDimension ? __half2float(q[query * kDimension + depth]) : 0.0f;
      },
      [&](int depth, int column) {
        const std::int64_t key = first_key + column;
        return key < keys && depth < kDimension ? __half2float(k[key * kDimension + depth]) : 0.0f;
      });
#pragma unroll
  for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
    for (int j = 0; j < THREAD_N; ++j) {
      const std::int64_t query = first_query + static_cast<int>(threadIdx.x) / kColumnsOfThreads * THREAD_M + i;
      const std::int64_t key = first_key + static_cast<int>(threadIdx.x) % kColumnsOfThreads * THREAD_N + j;
      if (query < queries && key < keys) scores[(head * queries + query) * keys + key] = sums[i][j] * kScale;
    }
}

template <bool kMaximum>
__device__ float combine(float a, float b) {
  return kMaximum ? fmaxf(a, b) : a + b;
}

// Sum or maximum over the threads of the block; every thread gets it.
template <bool kMaximum>
__device__ float reduce_block(float value) {
  __shared__ float of_warp[kWarp];
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2)
    value = combine<kMaximum>(value, __shfl_xor_sync(0xffffffffu, value, lanes));
  if (threadIdx.x % kWarp == 0) of_warp[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = threadIdx.x % kWarp < SOFTMAX_THREADS / kWarp ? of_warp[threadIdx.x % kWarp] : (kMaximum ? -kInfinity : 0);
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2)
    value = combine<kMaximum>(value, __shfl_xor_sync(0xffffffffu, value, lanes));
  return value;
}

__global__ void __launch_bounds__(SOFTMAX_THREADS) softmax_rows(float* __restrict__ scores, int keys) {
  float* const row = scores + static_cast<std::int64_t>(blockIdx.x) * keys;
  float largest = -kInfinity;
  for (int key = threadIdx.x; key < keys; key += SOFTMAX_THREADS) largest = fmaxf(largest, row[key]);
  largest = reduce_block<true>(largest);
  float sum = 0;
  for (int key = threadIdx.x; key < keys; key += SOFTMAX_THREADS) sum += row[key] = expf(row[key] - largest);
  const float factor = 1.0f / reduce_block<false>(sum);
  for (int key = threadIdx.x; key < keys; key += SOFTMAX_THREADS) row[key] *= factor;
}

// Blocks: tiles of queries, heads.
__global__ void __launch_bounds__(kThreads)
    multiply_probabilities_and_values(const float* __restrict__ scores, const __half* __restrict__ v,
                                      __half* __restrict__ out, int queries, int keys) {
  const std::int64_t head = blockIdx.y;
  const int first_query = blockIdx.x * TILE_M;
  scores += head * queries * keys;
  v += head * keys * kDimension;
  float sums[THREAD_M][THREAD_N] = {};
  multiply_tile<false>(
      sums, keys,
      [&](int row, int depth) {
        const std::int64_t query = first_query + row;
        return query < queries && depth < keys ? scores[query * keys + depth] : 0.0f;
      },
      [&](int depth, int column) {
        return depth < keys ? __half2float(v[static_cast<std::int64_t>(depth) * kDimension + column]) : 0.0f;
      });
#pragma unroll
  for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
    for (int j = 0; j < THREAD_N; ++j) {
      const std::int64_t query = first_query + static_cast<int>(threadIdx.x) / kColumnsOfThreads * THREAD_M + i;
      const int column = static_cast<int>(threadIdx.x) % kColumnsOfThreads * THREAD_N + j;
      if (query < queries) out[(head * queries + query) * kDimension + column] = __float2half(sums[i][j]);
    }
}

}  // namespace

void attention(const __half* q, const __half* k, const __half* v, __half* out, float* scores, int heads, int queries,
               int keys, cudaStream_t stream) {
  if (heads == 0 || queries == 0) return;
  const unsigned tiles_of_queries = static_cast<unsigned>((queries - 1) / TILE_M + 1);
  const unsigned tiles_of_keys = static_cast<unsigned>((keys - 1) / kTileN + 1);
  const dim3 tiles(tiles_of_keys, tiles_of_queries, static_cast<unsigned>(heads));
  multiply_queries_and_keys<<<tiles, kThreads, 0, stream>>>(q, k, scores, queries, keys);
  const unsigned rows = static_cast<unsigned>(heads) * static_cast<unsigned>(queries);
  softmax_rows<<<rows, SOFTMAX_THREADS, 0, stream>>>(scores, keys);
  const dim3 stripes(tiles_of_queries, static_cast<unsigned>(heads));
  multiply_probabilities_and_values<<<stripes, kThreads, 0, stream>>>(scores, v, out, queries, keys);
}

}  // namespace kagent::kernels
