// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kagent::kernels {

// bins[v] = how many of the `count` bytes of data are v, for v = 0..255.
void byte_histogram(const std::uint8_t* data, std::uint32_t* bins, int count);

}  // namespace kagent::kernels
