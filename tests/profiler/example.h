// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "values/device.h"
#include "values/kernel_spec.h"

namespace kagent::profiler::example {

inline Device h200() {
  Device device;
  device.multiprocessors = 132;
  device.registers_per_multiprocessor = 65536;
  device.threads_per_multiprocessor = 2048;
  device.shared_bytes_per_multiprocessor = 233472;
  device.blocks_per_multiprocessor = 32;
  return device;
}

// y = f(x) over n floats, which memory limits.
inline KernelSpec streaming_spec() {
  KernelSpec spec;
  spec.flops = *Expression::parse("n");
  spec.bytes = *Expression::parse("8*n");
  return spec;
}

}  // namespace kagent::profiler::example
