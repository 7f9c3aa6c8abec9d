// SPDX-License-Identifier: Apache-2.0
#include "tile.h"

#ifndef BLOCK
#define BLOCK 64
#endif

// What the variants of one library all have, under the same names.
__device__ int calls;
__constant__ float offsets[4];

__device__ float scaled(float value) {
  return kFactor * value + offsets[0];
}

template <int Block>
__global__ void scale_kernel(const float* x, float* y, int n) {
  const int i = blockIdx.x * Block + threadIdx.x;
  if (i < n) y[i] = scaled(x[i]);
  if (i == 0) atomicAdd(&calls, 1);
}

inline int& launches() {
  static int count = 0;
  return count;
}

int blocks_of(int n) {
  return (n + BLOCK - 1) / BLOCK;
}

void scale(const float* x, float* y, int n, cudaStream_t stream) {
  ++launches();
  if (n == 0) return;  // a grid of no blocks is an error
  scale_kernel<BLOCK><<<blocks_of(n), BLOCK, 0, stream>>>(x, y, n);
}

int scale_block() {
  return BLOCK;
}
