// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace kagent::kernels {

// y = (x - mean) / sqrt(variance + 1e-5) * gamma + beta for each row of x, with the mean and the variance (of all, not
// of a sample) of the row. x and y are rows x cols, row-major, on the device; gamma and beta have cols elements.
void layer_norm(const __half* x, const __half* gamma, const __half* beta, __half* y, int rows, int cols,
                cudaStream_t stream);

}  // namespace kagent::kernels
