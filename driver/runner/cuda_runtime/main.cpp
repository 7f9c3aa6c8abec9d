// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_runtime/serve.h"

// Of a candidate's program; kagent-cuda-runner has its own.
int main() {
  kagent::runner::cuda::serve_requests();
}
