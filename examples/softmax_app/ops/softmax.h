// SPDX-License-Identifier: Apache-2.0
#pragma once

// y = softmax of each row of x; both are row-major, rows x cols, and do not overlap.
void softmax_forward(const float* x, float* y, int rows, int cols);
