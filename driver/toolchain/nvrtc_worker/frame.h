// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kagent::toolchain {

// What driver and worker send each other: a JSON text and bytes that belong to it (a source, or a cubin), each with its
// length in front as 4 bytes, little endian.
struct Frame {
  std::string json;
  std::string bytes;
};

// Neither side believes a length beyond this.
inline constexpr std::uint32_t kLargestPart = std::uint32_t{256} << 20;

// The frame as it is sent.
std::string encode(const Frame& frame);
// Takes the first frame off `received`, or nothing if it is not there yet. `broken` is set where no frame can begin.
std::optional<Frame> take_frame(std::string& received, bool& broken);

}  // namespace kagent::toolchain
