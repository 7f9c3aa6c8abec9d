// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace kagent::kernels {

// c = a b for row-major matrices on the device: a is m x k, b is k x n, c is m x n and overlaps neither. Products are
// summed in fp32, and c is what tensor cores sum up, before any rounding to fp16. All begin at multiples of 16 bytes.
void hgemm(const __half* a, const __half* b, float* c, int m, int n, int k, cudaStream_t stream);

}  // namespace kagent::kernels
