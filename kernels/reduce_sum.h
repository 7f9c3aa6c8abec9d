// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace kagent::kernels {

// sum[0] = x[0] + ... + x[count - 1], in an order that depends on nothing but count: the same bits each time.
// `partial` is scratch memory of 1056 elements. All lie on the device and begin at multiples of 16 bytes.
void reduce_sum(const float* x, float* sum, float* partial, std::int64_t count, cudaStream_t stream);

}  // namespace kagent::kernels
