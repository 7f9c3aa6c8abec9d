// SPDX-License-Identifier: Apache-2.0
// What the shipped kernels use of CUDA's bfloat16 header, on the fake device.
#pragma once

#include "cuda_runtime.h"

struct __nv_bfloat16 {
  std::uint16_t bits;
};

inline float __bfloat162float(__nv_bfloat16 b) {
  const std::uint32_t bits = static_cast<std::uint32_t>(b.bits) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Rounds to nearest, ties to even.
inline __nv_bfloat16 __float2bfloat16(float value) {
  if (std::isnan(value)) return {0x7fff};
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}
