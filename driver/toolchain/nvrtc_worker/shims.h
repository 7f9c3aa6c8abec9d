// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace kagent::toolchain {

// A header of the C++ library that NVRTC does not find, by its name in an #include.
struct Shim {
  const char* name;
  const char* text;
};

// Those that device code needs and that can be given with the meaning that nvcc gives them.
std::span<const Shim> shims();

}  // namespace kagent::toolchain
