// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runner/protocol.h"

namespace kagent::runner {

// Says which counter times the calls, and makes the key that hides the start time. Before any guarded_call().
void prepare_guarded_calls(protocol::TickSource source, std::uint64_t secret);

struct GuardedCall {
  std::uint64_t ticks = 0;
  protocol::Change change = protocol::Change::none;  // what the call did to its caller
};

// Calls the entry and times it.
GuardedCall guarded_call(void* const* arguments);

}  // namespace kagent::runner
