// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace kagent {

// A value that a kernel or its reference is called with: a buffer, or a size or scalar.
struct ShippedArgument {
  void* buffer = nullptr;
  double number = 0;
};

// All but the stream, in the order of the entry's parameters; the sizes once more by name.
struct ShippedArguments {
  std::vector<ShippedArgument> values;
  std::map<std::string, std::int64_t> sizes;
};

// A CUDA kernel of kernels/, as compiled for the fake device, and its reference.
struct ShippedCudaKernel {
  std::string name;
  std::function<void(const ShippedArguments&)> call, reference;
};

std::vector<ShippedCudaKernel> shipped_cuda_kernels();

}  // namespace kagent
