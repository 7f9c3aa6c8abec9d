// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "values/error.h"

namespace kagent::runner {

// System call filters for a candidate's process, as struct sock_filter[] in bytes. Denylists: compute kernels use
// threads, memory and clocks, which stay. A forbidden call raises SIGSYS, which the runtime reports by the call's name.
//
// The first holds from exec on and lets pass what starting a program needs. The second is added by the runtime once the
// program's libraries have been set up, before the candidate's first instruction: no exec, no looking at files, no new
// code, no signals to others (the process's number stands in it as a placeholder, see protocol.h), no further filters
// or signal handling for SIGSYS.
Result<std::string> start_filter();
Result<std::string> call_filter();

// The same for processes that run device code, whose driver opens files and devices, starts threads and talks to itself
// through local sockets at any time: processes, other kinds of sockets and the rest of the machine stay out of reach.
// The first tells no instead of ending the process, since the driver's library tries several things when it is
// initialised.
Result<std::string> device_start_filter();
Result<std::string> device_call_filter();

// "socket" for the number of this machine's socket(); "system call 1234" if it has no name.
std::string system_call_name(int number);

}  // namespace kagent::runner
