// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kagent::kernels {

// c = a b for row-major matrices: a is m x k, b is k x n, c is m x n and overlaps neither.
void matmul(const float* a, const float* b, float* c, int m, int n, int k);

}  // namespace kagent::kernels
