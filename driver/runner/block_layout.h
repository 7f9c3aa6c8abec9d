// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runner/protocol.h"
#include "runner/runner.h"

namespace kagent::runner {

// How the memory that buffers lie in differs.
struct BlockRules {
  std::uint64_t alignment = protocol::kLineBytes;  // of every buffer
  bool staggered = true;                           // buffers start at different places of a page
};
// As cudaMalloc() places buffers: all alike, at multiples of 256 bytes (large ones of 2 MiB).
inline constexpr BlockRules kDeviceBlocks{256, false};

// Where each parameter of one call lies, as told to the runtime. Errors: a size or scalar without a value, an input
// without a tensor or of another dtype, a shape that cannot be evaluated or whose size overflows; each names it.
Result<std::vector<protocol::Block>> lay_out_blocks(const std::vector<Parameter>& parameters, const CallInputs& inputs,
                                                    const CallLayout& layout, const BlockRules& rules = {});

// Extents of a buffer parameter under the given sizes.
Result<std::vector<std::int64_t>> extents(const Parameter& parameter, const Sizes& sizes);

// Memory that the runtime maps for the blocks.
std::uint64_t mapped_bytes(const std::vector<protocol::Block>& blocks);

// The parts of a mapping beside the data that can be read, as [start, end).
struct Guards {
  std::uint64_t front_start, front_end, back_start, back_end;
};
Guards guards_of(const protocol::Block& block);

// Offset, from the data's start, of the first byte of guards that is no longer its sentinel; nothing if all are.
// `front` and `back` hold what guards_of() names.
std::optional<std::int64_t> first_damage(const protocol::Block& block, std::uint64_t seed,
                                         std::span<const std::byte> front, std::span<const std::byte> back);

}  // namespace kagent::runner
