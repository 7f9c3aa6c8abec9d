// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runner/cuda_runtime/driver_api.h"
#include "runner/protocol.h"

namespace kagent::runner::cuda {

// The management library, by declarations of our own: not every toolkit has its header. It makes no context.
class Nvml {
 public:
  // False with the reason in `why`.
  bool open(const char* uuid, Line& why);
  protocol::StateReply state() const;

 private:
  void* library_ = nullptr;
  void* device_ = nullptr;
};

}  // namespace kagent::runner::cuda
