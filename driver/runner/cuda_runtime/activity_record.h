// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cupti_activity.h>

#include "values/kernel_trace.h"

namespace kagent::runner::cuda {

// CUPTI's records in their newest form, whose older fields no toolkit has moved.
#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
#else
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
#endif
using FillRecord = CUpti_ActivityMemset4;

// Times are those of the device's clock. Nothing for records of other kinds.
std::optional<TracedWork> decode(const CUpti_Activity& record);

// "void ops::scale<4>(float*, int)" under its mangled name: "ops::scale<4>".
std::string readable_name(const char* mangled);

// What the driver is told: a line for each piece of work, in the order of beginning, from the first one's on; then "="
// and the time between the events. `why`: there is nothing, which is told instead.
std::string describe(std::vector<TracedWork> work, std::uint64_t event_ns, const std::string& why);

}  // namespace kagent::runner::cuda
