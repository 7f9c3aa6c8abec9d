// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "build_step/generated_source.h"

namespace kagent::build_step {

// A CUDA kernel whose variants are chosen by the device that is current at each call.
struct DeviceDispatch {
  std::string target, kernel;
  std::string baseline;  // text that defines the entry: an include of the source, or a generated launcher
  std::string entry;     // "ops::softmax"; C++ linkage if `symbol` is empty
  std::string symbol;    // its mangled name, where it is known
  bool hidden = false;   // the target hides its symbols by default
  std::vector<DispatchedLevel> variants;  // "sm_90a", ...
};

// The baseline under another name, and in the entry's place a function that asks the runtime for the current device and
// calls the variant made for exactly its compute capability, or else the baseline. What it finds is kept for each
// device; it may be called by many threads, and while a stream is captured.
Dispatcher device_dispatcher_source(const DeviceDispatch& dispatch);

}  // namespace kagent::build_step
