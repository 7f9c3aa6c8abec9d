// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace kagent::kernels {

// y = x / sqrt(mean of squares + 1e-6) * weight for each row of x. x and y are rows x cols, row-major, on the device;
// weight has cols elements.
void rms_norm(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* y, int rows, int cols,
              cudaStream_t stream);

}  // namespace kagent::kernels
