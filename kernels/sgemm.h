// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

namespace kagent::kernels {

// c = a b for row-major matrices on the device: a is m x k, b is k x n, c is m x n and overlaps neither.
void sgemm(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream);

}  // namespace kagent::kernels
