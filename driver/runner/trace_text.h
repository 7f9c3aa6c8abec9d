// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "values/kernel_trace.h"

namespace kagent::runner {

// What a process answered to protocol::Operation::trace. It may say anything: lines that mean nothing are passed over,
// and numbers that cannot be are no work.
KernelTrace parse_trace(std::string_view text);

}  // namespace kagent::runner
