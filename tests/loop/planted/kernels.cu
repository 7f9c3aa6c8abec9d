// SPDX-License-Identifier: Apache-2.0

// Kernels that lose time in one way each, and two that do not, in ways that the compiler's report and the machine code
// show. They are compiled and looked at, never run.
#include <cuda_fp16.h>
#include <mma.h>

__global__ void __launch_bounds__(1024) spills(const float* x, float* y, int n) {
  float held[100];
#pragma unroll
  for (int i = 0; i < 100; ++i) held[i] = x[i * n + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 100; ++i) y[i * n + threadIdx.x] = held[i] * held[99 - i];
}

__global__ void local_arrays(const float* x, float* y, int n) {
  float held[64];
  for (int i = 0; i < n; ++i) held[(i * 7 + threadIdx.x) % 64] = x[i];
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += held[(i * 5 + threadIdx.x) % 64];
  y[threadIdx.x] = sum;
}

__global__ void narrow(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

__global__ void wide(const float4* x, float4* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 one = x[i];
  y[i] = {2 * one.x, 2 * one.y, 2 * one.z, 2 * one.w};
}

__global__ void many_registers(const float* x, float* y, int n) {
  float held[120];
#pragma unroll
  for (int i = 0; i < 120; ++i) held[i] = x[i * n + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 120; ++i) y[i * n + threadIdx.x] = held[i] * held[119 - i];
}

__global__ void large_shared(const float* x, float* y, int n) {
  __shared__ float tile[12000];
  for (int i = threadIdx.x; i < 12000; i += blockDim.x) tile[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = tile[(i * 7) % 12000];
}

__global__ void no_tensor(const __half* a, const __half* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += __half2float(a[row * n + k]) * __half2float(b[k * n + column]);
  c[row * n + column] = sum;
}

__global__ void tensor(const __half* a, const __half* b, float* c, int n) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> left;
  fragment<matrix_b, 16, 16, 16, __half, row_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0F);
  for (int k = 0; k < n; k += 16) {
    load_matrix_sync(left, a + blockIdx.y * 16 * n + k, n);
    load_matrix_sync(right, b + k * n + blockIdx.x * 16, n);
    mma_sync(sum, left, right, sum);
  }
  store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, mem_row_major);
}

__global__ void in_double(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5 * x[i] + 0.1;
}

// The entry: all that has to be said of it is that it uses them.
void scale(const float* x, float* y, int n, cudaStream_t stream) {
  spills<<<1, 1024, 0, stream>>>(x, y, n);
  local_arrays<<<1, 32, 0, stream>>>(x, y, n);
  narrow<<<1, 32, 0, stream>>>(x, y, n);
  wide<<<1, 32, 0, stream>>>((const float4*)x, (float4*)y, n);
  many_registers<<<1, 32, 0, stream>>>(x, y, n);
  large_shared<<<1, 32, 0, stream>>>(x, y, n);
  no_tensor<<<1, 32, 0, stream>>>((const __half*)x, (const __half*)x, y, n);
  tensor<<<1, 32, 0, stream>>>((const __half*)x, (const __half*)x, y, n);
  in_double<<<1, 32, 0, stream>>>(x, y, n);
}
