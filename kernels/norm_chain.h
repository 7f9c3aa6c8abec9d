// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace kagent::kernels {

// out = residual + dropout(softmax(layer_norm(x) * gamma + beta)), row by row: x, residual and out are rows x cols,
// row-major, on the device; gamma and beta have cols elements. Which elements are dropped is defined in the source:
// 0 <= drop_probability < 1, and the same seed drops the same elements. `normalised` and `probability` are scratch
// memory of rows x cols elements. All buffers begin at multiples of 16 bytes.
void norm_chain(const __half* x, const __half* residual, const __half* gamma, const __half* beta, __half* out,
                float* normalised, float* probability, int rows, int cols, float drop_probability, std::uint64_t seed,
                cudaStream_t stream);

}  // namespace kagent::kernels
