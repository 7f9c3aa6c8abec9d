// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kagent::runner {

// From the kernel's generator: what a candidate must not be able to guess.
std::uint64_t secret_number();

}  // namespace kagent::runner
