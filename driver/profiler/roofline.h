// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "values/error.h"
#include "values/kernel_spec.h"

namespace kagent::profiler {

// What this machine can do at most, on one core or on one GPU: the roofs.
struct Ceilings {
  double flops_per_s = 0;       // fp32 multiply-adds, two operations each, in the widest vectors that the processor has
  double bytes_per_s = 0;       // read + written by a copy much larger than the caches
  double half_flops_per_s = 0;  // fp16 multiply-adds in pairs, without tensor cores; 0: as fp32's
  double tensor_flops_per_s = 0;  // fp16 products added up in fp32 by tensor cores (mma.sync); 0: there are none
  double launch_s = 0;            // what the events around an empty kernel are apart; 0: kernels are not launched
};

// Operations a byte: more than any chain of elementwise steps has.
inline constexpr double kProductIntensity = 64;

enum class Limit { compute, memory };

// Where a call lies under the roofs (Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009).
struct RooflinePosition {
  double flops_per_s = 0, bytes_per_s = 0;  // achieved, by the spec's own count of work
  double arithmetic_roof = 0;   // operations a second: the tensor cores' for products of 16-bit floats, fp16's in
                                // pairs where no buffer has wider floats either, else fp32's. Products are what
                                // the spec calls a contraction, and what has more than kProductIntensity
                                // operations a byte, such as attention
  Limit limit = Limit::memory;  // the roof that the call would meet first
  double share = 0;             // of the time that is unavoidable under that roof; 1 is at the roof. More
                                // than 1 means data that came from a cache, or work that was not done
};

// Nothing where the spec counts no work or the sizes give none. `time_ns` of one call.
Result<std::optional<RooflinePosition>> position(const KernelSpec& spec, const Sizes& sizes, double time_ns,
                                                 const Ceilings& ceilings);

}  // namespace kagent::profiler
