// SPDX-License-Identifier: Apache-2.0
// What the shipped kernels use of CUDA's half precision header, on the fake device.
#pragma once

#include "cuda_runtime.h"

struct __half {
  _Float16 value;
};
using half = __half;
struct alignas(4) __half2 {
  __half x, y;
};
using half2 = __half2;

inline float __half2float(__half h) {
  return static_cast<float>(h.value);
}
inline __half __float2half(float f) {
  return {static_cast<_Float16>(f)};
}
inline __half __float2half_rn(float f) {
  return __float2half(f);
}
