// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_session.h"

namespace kagent::runner {

std::filesystem::path kernel_runner() {
  return KAGENT_KERNEL_RUNNER;
}

}  // namespace kagent::runner
