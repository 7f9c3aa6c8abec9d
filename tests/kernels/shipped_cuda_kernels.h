// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace kagent {

// A value that a kernel or its reference is called with: a buffer, or a size or scalar.
struct ShippedArgument {
  void* buffer = nullptr;
  double number = 0;
};

// Where a kernel of style "kernel" is launched.
struct ShippedGeometry {
  std::array<unsigned, 3> grid{}, block{};
  std::size_t shared_bytes = 0;
};

// All but the stream, in the order of the entry's parameters.
struct ShippedArguments {
  std::vector<ShippedArgument> values;
  ShippedGeometry geometry;
};

// A CUDA kernel of kernels/, as compiled for the fake device, and its reference.
struct ShippedCudaKernel {
  std::string name;
  std::function<void(const ShippedArguments&)> call, reference;
};

std::vector<ShippedCudaKernel> shipped_cuda_kernels();

}  // namespace kagent
