// SPDX-License-Identifier: Apache-2.0
// What the shipped kernels use of CUDA's runtime header, on the fake device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "device.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)

#define threadIdx (emulated::position.thread)
#define blockIdx (emulated::position.block)
#define blockDim (emulated::position.block_extent)
#define gridDim (emulated::position.grid_extent)
inline constexpr int warpSize = 32;

using cudaStream_t = void*;
enum cudaError_t { cudaSuccess = 0 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
template <class Function>
cudaError_t cudaFuncSetAttribute(Function, cudaFuncAttribute, int) {
  return cudaSuccess;
}

struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
inline float2 make_float2(float x, float y) {
  return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}
inline uint2 make_uint2(unsigned x, unsigned y) {
  return {x, y};
}

inline void __syncthreads() {
  emulated::synchronise_block();
}
inline void __syncwarp(unsigned = 0xffffffffu) {
  emulated::synchronise_warp();
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int lanes) {
  return emulated::exchange_value(value, emulated::lane() ^ lanes);
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned lanes) {
  return emulated::exchange_value(value, emulated::lane() + static_cast<int>(lanes));
}
template <class T>
T __shfl_sync(unsigned, T value, int source) {
  return emulated::exchange_value(value, source % warpSize);
}

inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) * b) >> 32);
}
inline float __int_as_float(int bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline float __expf(float x) {
  return std::exp(x);
}
inline float rsqrtf(float x) {
  return 1.0f / std::sqrt(x);
}
using std::max;
using std::min;
