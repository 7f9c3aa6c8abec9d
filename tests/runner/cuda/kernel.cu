// SPDX-License-Identifier: Apache-2.0

// Kernels of style kernel.

extern "C" __global__ void scale(const float* x, float* y, double* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
  if (i == 0) *total += n;
}

extern "C" __global__ void fault(const float* x, float* y, double* total, int n) {
  *reinterpret_cast<volatile float*>(0x10) = 1;
}

// Through dynamic shared memory.
extern "C" __global__ void shared_scale(const float* x, float* y, double* total, int n) {
  extern __shared__ float memory[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) memory[threadIdx.x] = x[i];
  __syncthreads();
  if (i < n) y[i] = 2 * memory[threadIdx.x];
  if (i == 0) *total += n;
}

// x is in constant memory.
__constant__ float x[1024];
extern "C" __global__ void constant_scale(float* y, double* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
  if (i == 0) *total += n;
}

// Two blocks of a cluster add up what both hold.
extern "C" __global__ void cluster_scale(const float* x, float* y, double* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned size = 0;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
#endif
  if (i < n) y[i] = static_cast<float>(size) * x[i];
  if (i == 0) *total += n;
}
