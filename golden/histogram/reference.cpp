// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

void byte_histogram_reference(const std::uint8_t* data, std::uint32_t* bins, int count) {
  for (int value = 0; value < 256; ++value) bins[value] = 0;
  for (int i = 0; i < count; ++i) bins[data[i]] += 1;
}
