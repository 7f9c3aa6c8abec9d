// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loop/platform.h"

namespace kagent::loop {

// The platform of a CUDA kernel: nvcc, and NVRTC for sources of device code alone; the first GPU of its architecture.
Result<Platform> open_cuda_platform(const build_step::KernelContext& context, const WorkbenchOptions& options);

}  // namespace kagent::loop
