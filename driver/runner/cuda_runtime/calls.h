// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runner/cuda_runtime/device_slots.h"

namespace kagent::runner::cuda {

// One call, checked: the whole device is waited for, and errors it left behind end the process.
void call(const Slot& slot, std::uint64_t nonce, protocol::Reply& reply);

// As many calls as the request says, going round the slots in `order`, timed by the device.
//
// Cold: before each call the L2 cache is swept; the call is launched behind a kernel that waits for the host, so that
// launching it takes no part in its time, between two events. Hot: all calls between one pair of events, as one graph
// if asked for and possible; one pair a call where buffers have to be restored in between.
void sample(Slot* slots, const protocol::Request& request, const std::uint32_t* order, protocol::TickSource source,
            protocol::Reply& reply);

// Hardware counters of one call; see Operation::count.
void count(const Slot& slot);

// What the device does during one call, see Operation::trace.
void trace(const Slot& slot);

// The slot whose call is being made.
extern const Slot* current_slot;

// What a process that is used again must not keep of whom it served.
void forget_calls();

}  // namespace kagent::runner::cuda
