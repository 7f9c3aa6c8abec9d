// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace kagent::kernels {

// y = (x - mean) / sqrt(variance + 1e-5) * gamma + beta, with the mean and the variance of each sample's group of
// channels / groups neighbouring channels. x and y are batch x channels x positions, row-major, on the device; gamma
// and beta have one element for each channel. groups divides channels.
void group_norm(const __half* x, const __half* gamma, const __half* beta, __half* y, int batch, int channels,
                int positions, int groups, cudaStream_t stream);

}  // namespace kagent::kernels
