// SPDX-License-Identifier: Apache-2.0

// Arithmetic and nothing else, as fast as the device can: what kernels are held against.

// Independent accumulators, enough to hide the latency of a multiply-add.
#define ACCUMULATORS 16

// 2 * ACCUMULATORS * steps operations a thread.
extern "C" __global__ void kagent_multiply_add(float* never, int steps, float factor, float addend) {
  float sums[ACCUMULATORS];
#pragma unroll
  for (int i = 0; i < ACCUMULATORS; ++i) sums[i] = (float)threadIdx.x + (float)i;
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; ++i) sums[i] = fmaf(sums[i], factor, addend);
  }
  float total = 0;
#pragma unroll
  for (int i = 0; i < ACCUMULATORS; ++i) total += sums[i];
  if (total == 1.25e30f) *never = total;
}

// As kagent_multiply_add, in pairs of fp16: 4 * ACCUMULATORS * steps operations a thread. In PTX, since the header of
// half types would make most of this file's compile.
extern "C" __global__ void kagent_half_multiply_add(unsigned* never, int steps, unsigned factor, unsigned addend) {
#if __CUDA_ARCH__ >= 530
  unsigned sums[ACCUMULATORS];
#pragma unroll
  for (int i = 0; i < ACCUMULATORS; ++i) sums[i] = 0x3C003C00u + threadIdx.x + (unsigned)i;
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; ++i)
      asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(sums[i]) : "r"(factor), "r"(addend));
  }
  unsigned mixed = 0;
#pragma unroll
  for (int i = 0; i < ACCUMULATORS; ++i) mixed ^= sums[i] + (unsigned)i;
  if (mixed == 0xFFFFFFFFu) *never = mixed;
#else
  (void)never, (void)steps, (void)factor, (void)addend;
#endif
}

// Products of 16x8x16 on the tensor cores, 4 at once: 4 * 2 * 16 * 8 * 16 * steps operations a warp.
extern "C" __global__ void kagent_tensor_product(float* never, int steps) {
#if __CUDA_ARCH__ >= 800
  unsigned a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = 0x2C002C00u + threadIdx.x;
  for (int i = 0; i < 2; ++i) b[i] = 0x2C002C00u + threadIdx.x;
  float c[4][4] = {};
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(c[i][0]), "+f"(c[i][1]), "+f"(c[i][2]), "+f"(c[i][3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
  float total = 0;
  for (int i = 0; i < 4; ++i) total += c[i][0] + c[i][1] + c[i][2] + c[i][3];
  if (total == 1.25e30f) *never = total;
#else
  (void)never, (void)steps;
#endif
}

extern "C" __global__ void kagent_nothing() {}

// Loads of a thread that are under way at once.
#define LOADS 4

// A copy of `count` times 16 bytes, a multiple of LOADS * blockDim.x.
extern "C" __global__ void kagent_copy(const uint4* from, uint4* to, unsigned long long count) {
  const unsigned long long tile = (unsigned long long)LOADS * blockDim.x;
  for (unsigned long long at = blockIdx.x * tile + threadIdx.x; at < count; at += gridDim.x * tile) {
    uint4 values[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; ++i) values[i] = from[at + i * blockDim.x];
#pragma unroll
    for (int i = 0; i < LOADS; ++i) to[at + i * blockDim.x] = values[i];
  }
}
