// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "build_step/generated_source.h"

namespace kagent::build_step {

// Of CUDA code: the baseline under another name, and in the entry's place a function that asks the runtime for the
// device that is current at the call and calls the variant made for exactly its compute capability, or else the
// baseline. What it finds is kept for each device; it may be called by many threads, and while a stream is captured.
Dispatcher device_dispatcher_source(const Dispatch& dispatch);

}  // namespace kagent::build_step
