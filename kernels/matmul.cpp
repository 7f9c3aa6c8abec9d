// SPDX-License-Identifier: Apache-2.0
// Matrix product C = A B of row-major float matrices: A is m x k, B is k x n, C is m x n.
#include "matmul.h"

#include <cstdint>

// 0: rows of B, scaled, are added to rows of C. 1: a tile of C is kept in registers while k goes by.
#ifndef REGISTERS
#define REGISTERS 0
#endif
// Extents of the blocks of B that are used again and again while they are in the cache.
#ifndef BLOCK_K
#define BLOCK_K 64
#endif
#ifndef BLOCK_N
#define BLOCK_N 64
#endif
// The tile of C in registers: rows, and vectors of so many floats.
#ifndef ROWS
#define ROWS 1
#endif
#ifndef VECTORS
#define VECTORS 1
#endif
#ifndef VECTOR
#define VECTOR 4
#endif
// 1: the block of B is first copied so that the tile reads it from beginning to end.
#ifndef PACK
#define PACK 0
#endif
// Steps of k that are written out after each other.
#ifndef UNROLL
#define UNROLL 1
#endif

namespace kagent::kernels {
namespace {

struct Block {
  std::int64_t k_begin, k_end, n_begin, n_end;
};

#if REGISTERS == 0

void multiply_block(const float* __restrict a, const float* __restrict b, float* __restrict c, std::int64_t m,
                    std::int64_t k, std::int64_t n, const Block& block) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t p = block.k_begin; p < block.k_end; ++p) {
      const float factor = a[i * k + p];
      for (std::int64_t j = block.n_begin; j < block.n_end; ++j) c[i * n + j] += factor * b[p * n + j];
    }
  }
}

#else

typedef float Floats __attribute__((vector_size(VECTOR * sizeof(float)), aligned(alignof(float)), may_alias));

constexpr int kTileWidth = VECTORS * VECTOR;
constexpr int kUnroll = UNROLL;

// kRows rows of C, kTileWidth columns. `b` has the block's rows at the distance `stride`.
template <int kRows>
inline void multiply_tile(const float* __restrict a, std::int64_t k, const float* __restrict b, std::int64_t stride,
                          float* __restrict c, std::int64_t n, std::int64_t length) {
  Floats sums[kRows][VECTORS] = {};
#pragma GCC unroll kUnroll
  for (std::int64_t p = 0; p < length; ++p) {
    const Floats* row = reinterpret_cast<const Floats*>(b + p * stride);
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < VECTORS; ++v) sums[r][v] += a[r * k + p] * row[v];
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < VECTORS; ++v) reinterpret_cast<Floats*>(c + r * n)[v] += sums[r][v];
}

// The columns right of the last whole tile.
void multiply_rest(const float* __restrict a, const float* __restrict b, float* __restrict c, std::int64_t m,
                   std::int64_t k, std::int64_t n, const Block& block, std::int64_t n_begin) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t p = block.k_begin; p < block.k_end; ++p) {
      const float factor = a[i * k + p];
      for (std::int64_t j = n_begin; j < block.n_end; ++j) c[i * n + j] += factor * b[p * n + j];
    }
  }
}

void multiply_block(const float* __restrict a, const float* __restrict b, float* __restrict c, std::int64_t m,
                    std::int64_t k, std::int64_t n, const Block& block) {
  const std::int64_t length = block.k_end - block.k_begin;
  std::int64_t j = block.n_begin;
  for (; j + kTileWidth <= block.n_end; j += kTileWidth) {
    const float* panel = b + block.k_begin * n + j;
    std::int64_t stride = n;
#if PACK
    float packed[BLOCK_K * kTileWidth];
    for (std::int64_t p = 0; p < length; ++p)
      for (int column = 0; column < kTileWidth; ++column) packed[p * kTileWidth + column] = panel[p * n + column];
    panel = packed;
    stride = kTileWidth;
#endif
    std::int64_t i = 0;
    for (; i + ROWS <= m; i += ROWS)
      multiply_tile<ROWS>(a + i * k + block.k_begin, k, panel, stride, c + i * n + j, n, length);
    for (; i < m; ++i) multiply_tile<1>(a + i * k + block.k_begin, k, panel, stride, c + i * n + j, n, length);
  }
  if (j < block.n_end) multiply_rest(a, b, c, m, k, n, block, j);
}

#endif

}  // namespace

void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  for (std::int64_t i = 0; i < std::int64_t{m} * n; ++i) c[i] = 0;
  for (std::int64_t p = 0; p < k; p += BLOCK_K) {
    for (std::int64_t j = 0; j < n; j += BLOCK_N) {
      const Block block{p, p + BLOCK_K < k ? p + BLOCK_K : k, j, j + BLOCK_N < n ? j + BLOCK_N : n};
      multiply_block(a, b, c, m, k, n, block);
    }
  }
}

}  // namespace kagent::kernels
