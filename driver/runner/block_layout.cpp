// SPDX-License-Identifier: Apache-2.0
#include "runner/block_layout.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

namespace kagent::runner {

using protocol::Block;
using protocol::BlockKind;
using protocol::kHugePageBytes;
using protocol::kPageBytes;

namespace {

// No buffer of a sensible call is larger, and sums of this many cannot overflow 64 bits.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 46;
// Consecutive buffers do not all start at the same place of a page, where each would compete for the same cache sets
// and stores would seem to alias loads: a common allocator does not place them so either.
constexpr std::uint64_t kStagger = 5 * protocol::kLineBytes;
constexpr std::uint64_t kStaggerSteps = 12;  // stays within a page

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

BlockKind kind_of(const Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::input:
      return BlockKind::input;
    case ParameterKind::output:
      return BlockKind::output;
    case ParameterKind::inout:
      return BlockKind::inout;
    case ParameterKind::workspace:
      return BlockKind::workspace;
    case ParameterKind::size:
    case ParameterKind::scalar:
      return BlockKind::value;
    case ParameterKind::stream:
      return BlockKind::stream;
  }
  return BlockKind::value;
}

Result<Block> value_block(const Parameter& parameter, const CallInputs& inputs) {
  Block block{};
  block.kind = kind_of(parameter);
  if (block.kind == BlockKind::stream) return block;
  std::byte element[sizeof block.value] = {};
  if (parameter.kind == ParameterKind::size) {
    const auto found = inputs.sizes.find(parameter.name);
    if (found == inputs.sizes.end()) return failure("'" + inputs.label + "' has no size '" + parameter.name + "'");
    // Not through double, which loses integers beyond 2^53.
    std::memcpy(element, &found->second, std::min(sizeof found->second, size_bytes(parameter.dtype)));
  } else {
    const auto found = inputs.scalars.find(parameter.name);
    if (found == inputs.scalars.end()) return failure("'" + inputs.label + "' has no scalar '" + parameter.name + "'");
    store_from_double(parameter.dtype, found->second, element);
  }
  std::memcpy(&block.value, element, sizeof element);
  return block;
}

Result<std::uint64_t> data_bytes(const Parameter& parameter, const CallInputs& inputs) {
  const auto shape = extents(parameter, inputs.sizes);
  if (!shape) return std::unexpected(shape.error());
  const auto element = static_cast<std::int64_t>(size_bytes(parameter.dtype));
  const bool empty = std::ranges::find(*shape, 0) != shape->end();
  std::int64_t bytes = empty ? 0 : element;
  for (std::int64_t extent : *shape) {
    if (bytes != 0 && extent > kMostBytes / bytes)
      return failure("'" + parameter.name + "' of '" + inputs.label + "' is larger than 64 TiB");
    bytes *= extent;
  }
  return static_cast<std::uint64_t>(bytes);
}

Result<void> check_buffer(const Parameter& parameter, const CallInputs& inputs, std::uint64_t bytes) {
  if (parameter.alignment_bytes > static_cast<std::int64_t>(kPageBytes))
    return failure(
        "alignment of '" + parameter.name + "' is beyond a page: " + std::to_string(parameter.alignment_bytes),
        "declare at most 4096");
  if (!parameter.is_read()) return {};
  const auto found = inputs.tensors.find(parameter.name);
  if (found == inputs.tensors.end())
    return failure("'" + inputs.label + "' has no contents for '" + parameter.name + "'");
  const Tensor& tensor = found->second;
  if (tensor.dtype != parameter.dtype || tensor.bytes.size() != bytes)
    return failure("contents of '" + parameter.name + "' of '" + inputs.label + "' are " +
                   std::to_string(tensor.bytes.size()) + " bytes of " + std::string(name(tensor.dtype)) + ", not " +
                   std::to_string(bytes) + " of " + std::string(name(parameter.dtype)));
  return {};
}

Block buffer_block(const Parameter& parameter, std::uint64_t bytes, std::uint64_t index, const CallLayout& layout,
                   const BlockRules& rules) {
  Block block{};
  block.kind = kind_of(parameter);
  block.data_bytes = bytes;
  block.huge_pages = bytes >= kHugePageBytes;
  const std::uint64_t element = size_bytes(parameter.dtype);
  const auto declared = static_cast<std::uint64_t>(std::max<std::int64_t>(parameter.alignment_bytes, 0));
  const std::uint64_t alignment = std::max(element, declared);
  if (layout.placement == Placement::end_of_block) {
    // The room before is a page of sentinels at least, plus what rounding to whole pages gives.
    const std::uint64_t room = round_up(bytes + alignment, kPageBytes);
    block.mapping_bytes = kPageBytes + kPageBytes + room + kPageBytes;
    const std::uint64_t end = block.mapping_bytes - kPageBytes;
    block.data_offset = (end - bytes) / alignment * alignment;
    block.huge_pages = 0;
    block.at_end = 1;
    block.write_protected = block.kind == BlockKind::input && bytes > 0;
    return block;
  }
  const auto shift = static_cast<std::uint64_t>(std::max(layout.offset_elements, 0)) * element;
  const std::uint64_t stagger = rules.staggered ? index % kStaggerSteps * kStagger : 0;
  block.data_shift = round_up(stagger, std::max(alignment, rules.alignment)) + round_up(shift, alignment);
  block.data_offset = round_up(2 * kPageBytes, std::max(alignment, rules.alignment)) + block.data_shift;
  block.mapping_bytes = round_up(block.data_offset + bytes + kPageBytes, kPageBytes) + kPageBytes;
  return block;
}

}  // namespace

Result<std::vector<std::int64_t>> extents(const Parameter& parameter, const Sizes& sizes) {
  std::vector<std::int64_t> result;
  for (const Expression& extent : parameter.shape) {
    const auto value = extent.evaluate([&](std::string_view size) -> const std::int64_t* {
      const auto found = sizes.find(std::string(size));
      return found == sizes.end() ? nullptr : &found->second;
    });
    if (!value)
      return failure("extent '" + extent.text() + "' of '" + parameter.name + "': " + value.error().message,
                     value.error().fix);
    if (*value < 0)
      return failure("extent '" + extent.text() + "' of '" + parameter.name +
                     "' is negative: " + std::to_string(*value));
    result.push_back(*value);
  }
  return result;
}

Result<std::vector<Block>> lay_out_blocks(const std::vector<Parameter>& parameters, const CallInputs& inputs,
                                          const CallLayout& layout, const BlockRules& rules) {
  std::vector<Block> blocks;
  for (const Parameter& parameter : parameters) {
    if (!parameter.is_buffer()) {
      const auto block = value_block(parameter, inputs);
      if (!block) return std::unexpected(block.error());
      blocks.push_back(*block);
      continue;
    }
    const auto bytes = data_bytes(parameter, inputs);
    if (!bytes) return std::unexpected(bytes.error());
    if (auto checked = check_buffer(parameter, inputs, *bytes); !checked) return std::unexpected(checked.error());
    blocks.push_back(buffer_block(parameter, *bytes, blocks.size(), layout, rules));
  }
  return blocks;
}

std::uint64_t mapped_bytes(const std::vector<Block>& blocks) {
  std::uint64_t sum = 0;
  for (const Block& block : blocks) {
    if (block.kind == BlockKind::value) continue;
    sum += block.mapping_bytes + (block.huge_pages != 0 ? kHugePageBytes : 0);
    if (block.kind == BlockKind::inout) sum += round_up(block.data_bytes, kPageBytes);
  }
  return sum;
}

Guards guards_of(const Block& block) {
  return {kPageBytes, block.data_offset, block.data_offset + block.data_bytes, block.mapping_bytes - kPageBytes};
}

std::optional<std::int64_t> first_damage(const Block& block, std::uint64_t seed, std::span<const std::byte> front,
                                         std::span<const std::byte> back) {
  const Guards guards = guards_of(block);
  const auto search = [&](std::span<const std::byte> bytes, std::uint64_t start) -> std::optional<std::int64_t> {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (std::to_integer<std::uint8_t>(bytes[i]) != protocol::sentinel(seed, start + i))
        return static_cast<std::int64_t>(start + i) - static_cast<std::int64_t>(block.data_offset);
    return {};
  };
  if (const auto damage = search(front, guards.front_start)) return damage;
  return search(back, guards.back_start);
}

}  // namespace kagent::runner
