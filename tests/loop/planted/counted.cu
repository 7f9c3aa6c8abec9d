// SPDX-License-Identifier: Apache-2.0

// Kernels that lose time in one way each, in ways that only counters show: for a GPU. All take (x, y, n), with n floats
// in both; each names the pattern that it is for.

__device__ int index() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

extern "C" __global__ void at_memory_bandwidth(const float4* x, float4* y, int n) {
  const int step = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = index(); i < n / 4; i += step) y[i] = x[i];
}

extern "C" __global__ void uncoalesced_loads(const float* x, float* y, int n) {
  const int i = index();
  if (i < n) y[i] = x[static_cast<int>((i * 33LL) % n)];
}

extern "C" __global__ void uncoalesced_stores(const float* x, float* y, int n) {
  const int i = index();
  if (i < n) y[static_cast<int>((i * 33LL) % n)] = x[i];
}

// Of a length that is no power of two, so that each warp starts one float past a sector.
extern "C" __global__ void unaligned_loads(const float* x, float* y, int n) {
  const int i = index();
  if (i + 1 < n) y[i] = x[i + 1];
}

extern "C" __global__ void bank_conflicts(const float* x, float* y, int n) {
  __shared__ float tile[32 * 32];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = x[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 256; ++k) sum += tile[(threadIdx.x * 32 + k) % 1024];
  if (index() < n) y[index()] = sum;
}

extern "C" __global__ void register_spills(const float* x, float* y, int n) {
  float held[64];
  for (int k = 0; k < 64; ++k) held[(k * 7 + threadIdx.x) % 64] = x[k];
  float sum = 0;
  for (int k = 0; k < 512; ++k) {
    sum += held[(k * 5 + threadIdx.x) % 64];
    held[(k + threadIdx.x) % 64] = sum;
  }
  if (index() < n) y[index()] = sum;
}

extern "C" __global__ void divergent(const float* x, float* y, int n) {
  const int i = index();
  if (i >= n) return;
  float value = x[i];
  for (int k = 0; k < 20 * static_cast<int>(threadIdx.x % 32); ++k) value = value * 1.0001F + 0.5F;
  y[i] = value;
}

extern "C" __global__ void barrier_stalls(const float* x, float* y, int n) {
  float value = x[threadIdx.x];
  for (int k = 0; k < 64; ++k) {
    if (threadIdx.x < 32)
      for (int j = 0; j < 50; ++j) value = value * 1.0001F + 0.5F;
    __syncthreads();
  }
  if (index() < n) y[index()] = value;
}

// Each load's address is in the one before it: a walk through memory by one warp a block.
extern "C" __global__ void latency_bound(const float* x, float* y, int n) {
  int at = index() * 1009 % n;
  for (int k = 0; k < 200; ++k) at = (at + 7919 + static_cast<int>(x[at]) * 13) % n;
  if (index() < n) y[index()] = static_cast<float>(at);
}

// A few blocks, most multiprocessors idle.
extern "C" __global__ void tail_effect(const float* x, float* y, int n) {
  float value = x[threadIdx.x];
  for (int k = 0; k < 20'000; ++k) value = value * 1.0001F + 0.5F;
  if (index() < n) y[index()] = value;
}

extern "C" __global__ void in_double(const float* x, float* y, int n) {
  double value = x[threadIdx.x];
  for (int k = 0; k < 500; ++k) value = value * 1.0001 + 0.5;
  if (index() < n) y[index()] = static_cast<float>(value);
}

extern "C" __global__ void fp32_pipe(const float* x, float* y, int n) {
  float a = x[threadIdx.x], b = a + 1, c = a + 2, d = a + 3;
#pragma unroll 16
  for (int k = 0; k < 2000; ++k) a = a * 1.01F + b, b = b * 1.02F + c, c = c * 1.03F + d, d = d * 1.04F + a;
  if (index() < n) y[index()] = a + b + c + d;
}
