// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace kagent::kernels {

// out = softmax(q k^T / 8) v for each head: q and out are heads x queries x 64, k and v are heads x keys x 64,
// row-major, on the device. `scores` is scratch memory of heads x queries x keys elements. keys > 0, heads <= 65535.
void attention(const __half* q, const __half* k, const __half* v, __half* out, float* scores, int heads, int queries,
               int keys, cudaStream_t stream);

}  // namespace kagent::kernels
