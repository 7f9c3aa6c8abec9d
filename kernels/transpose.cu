// SPDX-License-Identifier: Apache-2.0
// Transpose of a row-major matrix of floats: y[c][r] = x[r][c]. A block moves a tile through shared memory, so that it
// both reads and writes whole rows. Device code only: kagent writes the launcher.
#include <cstdint>

// The tile is TILE x TILE; the block TILE x THREAD_ROWS threads.
#ifndef TILE
#define TILE 32
#endif
#ifndef THREAD_ROWS
#define THREAD_ROWS 8
#endif
// Floats that pad each row of the tile, so that a column of it lies in different banks.
#ifndef PAD
#define PAD 1
#endif
// Tiles that a block moves, one after another along a row of the matrix.
#ifndef TILES
#define TILES 1
#endif

namespace kagent::kernels {

__global__ void __launch_bounds__(TILE* THREAD_ROWS)
    transpose(const float* __restrict__ x, float* __restrict__ y, std::int32_t rows, std::int32_t cols) {
  __shared__ float tile[TILE][TILE + PAD];
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * TILE;
  for (int t = 0; t < TILES; ++t) {
    const std::int64_t first_column = (static_cast<std::int64_t>(blockIdx.x) * TILES + t) * TILE;
    if (t > 0) __syncthreads();  // the tile before this one may still be read
#pragma unroll
    for (int i = 0; i < TILE; i += THREAD_ROWS) {
      const std::int64_t row = first_row + threadIdx.y + i, column = first_column + threadIdx.x;
      if (row < rows && column < cols) tile[threadIdx.y + i][threadIdx.x] = x[row * cols + column];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; i += THREAD_ROWS) {
      const std::int64_t row = first_row + threadIdx.x, column = first_column + threadIdx.y + i;
      if (row < rows && column < cols) y[column * rows + row] = tile[threadIdx.x][threadIdx.y + i];
    }
  }
}

}  // namespace kagent::kernels
