// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "values/error.h"
#include "values/kernel_spec.h"

namespace kagent::toolchain {

// Source of the object that the runner's runtime calls, `void kagent_call(void* const* arguments)`: buffers are passed
// as they are, sizes and scalars are read from where the argument points to. An error names a parameter that cannot be
// passed by value.
Result<std::string> call_shim(const std::string& mangled, const std::vector<Parameter>& parameters);

// The same for CUDA, `int kagent_cuda_call(void* const* arguments)`: the stream is passed as it is, and the result is
// the entry's cudaError_t, if it returns one, or else the runtime's last error. Needs no header of the toolkit.
Result<std::string> cuda_call_shim(const std::string& mangled, const std::vector<Parameter>& parameters,
                                   bool returns_status);

}  // namespace kagent::toolchain
