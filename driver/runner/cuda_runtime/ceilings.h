// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runner/cuda_runtime/driver_api.h"

namespace kagent::runner::cuda {

// What the first visible GPU can do at most, the best of several runs each.
struct DeviceCeilings {
  double bytes_per_s = 0;         // read + written by a copy of several times the L2 cache
  double flops_per_s = 0;         // fp32 multiply-adds, two operations each
  double half_flops_per_s = 0;    // fp16 multiply-adds in pairs; 0 before compute capability 5.3
  double tensor_flops_per_s = 0;  // fp16 products added up in fp32, by mma.sync; 0 where there is none
  double launch_s = 0;            // between events around a kernel that does nothing, all of them queued before
};

// 0, or an error's number with the step in `why`.
int measure_ceilings(DeviceCeilings& ceilings, Line& why);

}  // namespace kagent::runner::cuda
