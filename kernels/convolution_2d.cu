// SPDX-License-Identifier: Apache-2.0
// Convolution of an image of one channel with a filter of 15 x 15, as neural networks mean it (the filter is not
// turned):
//
//   output[y][x] = sum over i, j of input[y + i][x + j] * filter[i][j]
//
// The input is larger than the output by the filter's margin of 14. A block reads the input of its outputs into shared
// memory; a thread computes one output or more. Device code only: kagent writes the launcher, which copies the filter
// to constant memory.
#include <cstdint>

// Threads of a block.
#ifndef BLOCK_X
#define BLOCK_X 16
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 16
#endif
// Outputs of a thread, a block's width and height apart.
#ifndef TILE_X
#define TILE_X 1
#endif
#ifndef TILE_Y
#define TILE_Y 1
#endif
// 0: the input is read from global memory for each product. 1: through shared memory.
#ifndef USE_SHARED
#define USE_SHARED 1
#endif
// Floats that pad each row in shared memory.
#ifndef PAD
#define PAD 0
#endif
// Rows and columns of the filter that are written out after each other.
#ifndef UNROLL_Y
#define UNROLL_Y 1
#endif
#ifndef UNROLL_X
#define UNROLL_X 15
#endif

namespace kagent::kernels {

__constant__ float filter[15 * 15];

namespace convolution_2d_parts {

constexpr int kFilter = 15;
constexpr int kUnrollY = UNROLL_Y;
constexpr int kUnrollX = UNROLL_X;
constexpr int kOutputsX = BLOCK_X * TILE_X, kOutputsY = BLOCK_Y * TILE_Y;

// Adds the products of all outputs of a thread; read(y, x) gives the input at that distance from the first output's.
template <class Read>
__device__ void add_products(float (&sums)[TILE_Y][TILE_X], const Read& read) {
#pragma unroll kUnrollY
  for (int i = 0; i < kFilter; ++i)
#pragma unroll kUnrollX
    for (int j = 0; j < kFilter; ++j) {
      const float factor = filter[i * kFilter + j];
#pragma unroll
      for (int ty = 0; ty < TILE_Y; ++ty)
#pragma unroll
        for (int tx = 0; tx < TILE_X; ++tx) sums[ty][tx] += read(ty * BLOCK_Y + i, tx * BLOCK_X + j) * factor;
    }
}

}  // namespace convolution_2d_parts

__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    convolution_2d(const float* __restrict__ input, float* __restrict__ output, std::int32_t height,
                   std::int32_t width) {
  using namespace convolution_2d_parts;
  const std::int64_t first_y = static_cast<std::int64_t>(blockIdx.y) * kOutputsY;
  const std::int64_t first_x = static_cast<std::int64_t>(blockIdx.x) * kOutputsX;
  const std::int64_t rows = std::int64_t{height} + kFilter - 1, columns = std::int64_t{width} + kFilter - 1;
  float sums[TILE_Y][TILE_X] = {};
#if USE_SHARED
  constexpr int kInputsX = kOutputsX + kFilter - 1, kInputsY = kOutputsY + kFilter - 1;
  __shared__ float tile[kInputsY][kInputsX + PAD];
  for (int y = threadIdx.y; y < kInputsY; y += BLOCK_Y)
    for (int x = threadIdx.x; x < kInputsX; x += BLOCK_X)
      tile[y][x] = first_y + y < rows && first_x + x < columns ? input[(first_y + y) * columns + first_x + x] : 0.0f;
  __syncthreads();
  const int my_y = threadIdx.y, my_x = threadIdx.x;
  add_products(sums, [&](int y, int x) { return tile[my_y + y][my_x + x]; });
#else
  const std::int64_t my_y = first_y + threadIdx.y, my_x = first_x + threadIdx.x;
  add_products(sums, [&](int y, int x) {
    return my_y + y < rows && my_x + x < columns ? input[(my_y + y) * columns + my_x + x] : 0.0f;
  });
#endif

#pragma unroll
  for (int ty = 0; ty < TILE_Y; ++ty)
#pragma unroll
    for (int tx = 0; tx < TILE_X; ++tx) {
      const std::int64_t y = first_y + threadIdx.y + ty * BLOCK_Y, x = first_x + threadIdx.x + tx * BLOCK_X;
      if (y < height && x < width) output[y * width + x] = sums[ty][tx];
    }
}

}  // namespace kagent::kernels
