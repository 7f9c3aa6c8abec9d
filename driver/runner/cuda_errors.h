// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "values/outcome.h"

namespace kagent::runner {

// What an error that CUDA reports after a candidate's launch or call says of the candidate. The numbers are those of
// CUresult, which cudaError_t shares.
Outcome outcome_of_device_error(int code);

// Whether the error speaks of the device or its driver rather than of the code that ran: then it has to be seen whether
// the device still works before anybody is blamed.
bool speaks_of_lost_device(int code);

// What to do about a context that cannot be made, or a device that is gone.
std::string device_error_fix(int code);

}  // namespace kagent::runner
