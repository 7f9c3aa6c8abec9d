// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loop/platform.h"
#include "toolchain/cuda_toolchain.h"

namespace kagent::loop {

// The platform of a CUDA kernel: nvcc, and NVRTC for sources of device code alone; the first GPU of its architecture.
Result<Platform> open_cuda_platform(const build_step::KernelContext& context, const WorkbenchOptions& options);

// nvcc as the build has it for this kernel, whose entry is, of style "kernel", its launcher. Needs no GPU.
Result<toolchain::CudaToolchainOptions> cuda_toolchain_options(const build_step::KernelContext& context,
                                                               const WorkbenchOptions& options);

}  // namespace kagent::loop
