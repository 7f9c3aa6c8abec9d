// SPDX-License-Identifier: Apache-2.0
#include "runner/block_layout.h"

#include <cstring>

#include "runner/candidate_session.h"

namespace kagent::runner {
namespace {

using protocol::Block;
using protocol::kPageBytes;
using testing::HasSubstr;

std::vector<Block> blocks_of(const std::vector<Parameter>& parameters, int n, const CallLayout& layout) {
  const auto blocks = lay_out_blocks(parameters, call_inputs(n, 0), layout);
  if (blocks) return *blocks;
  ADD_FAILURE() << blocks.error().message;
  return {};
}

TEST(BlockLayout, every_buffer_has_a_page_of_sentinels_on_both_sides_and_room_for_its_data) {
  for (const int n : {0, 1, 63, 1024, 1025, 1'000'000})
    for (const int offset : {0, 1, 3})
      for (const Block& block : blocks_of(plain_parameters("n"), n, {.offset_elements = offset})) {
        if (block.kind == protocol::BlockKind::value) continue;
        const Guards guards = guards_of(block);
        EXPECT_GE(guards.front_end - guards.front_start, kPageBytes);
        EXPECT_GE(guards.back_end - guards.back_start, kPageBytes);
        EXPECT_EQ(block.mapping_bytes % kPageBytes, 0u);
      }
}

TEST(BlockLayout, buffers_start_at_multiples_of_64_bytes_plus_the_offset_in_elements) {
  for (const int offset : {0, 1, 5}) {
    const auto blocks = blocks_of(plain_parameters(), 1000, {.offset_elements = offset});
    EXPECT_EQ(blocks[0].data_offset % 64, static_cast<unsigned>(offset) * 4);
    EXPECT_EQ(blocks[2].data_offset % 64, static_cast<unsigned>(offset) * 8);
    EXPECT_EQ(blocks[3].data_offset % 64, static_cast<unsigned>(offset));
  }
}

TEST(BlockLayout, a_declared_alignment_is_kept_by_every_placement) {
  std::vector<Parameter> parameters = plain_parameters();
  parameters[0].alignment_bytes = 32;
  for (const CallLayout& layout : {CallLayout{.offset_elements = 1}, CallLayout{.placement = Placement::end_of_block}})
    EXPECT_EQ(blocks_of(parameters, 1001, layout)[0].data_offset % 32, 0u);
}

TEST(BlockLayout, at_the_end_of_its_block_data_ends_at_the_inaccessible_page) {
  for (const int n : {0, 1, 1000, 1024}) {
    const Block block = blocks_of(plain_parameters(), n, {.placement = Placement::end_of_block})[0];
    EXPECT_EQ(block.data_offset + block.data_bytes, block.mapping_bytes - kPageBytes);
    EXPECT_GE(block.data_offset, 2 * kPageBytes);
  }
}

TEST(BlockLayout, values_have_the_bytes_of_their_dtype) {
  CallInputs inputs = call_inputs(7, -2);
  inputs.sizes["n"] = (std::int64_t{1} << 53) + 1;
  inputs.scalars["scale"] = 0.5;
  const std::vector<Parameter> parameters{{"n", ParameterKind::size, DType::int64, {}, 0},
                                          {"mode", ParameterKind::scalar, DType::int8, {}, 0},
                                          {"scale", ParameterKind::scalar, DType::float32, {}, 0}};
  const auto blocks = lay_out_blocks(parameters, inputs, {});
  ASSERT_TRUE(blocks);
  EXPECT_EQ((*blocks)[0].value, (std::uint64_t{1} << 53) + 1);
  EXPECT_EQ((*blocks)[1].value, 0xFEu);
  float scale = 0;
  std::memcpy(&scale, &(*blocks)[2].value, sizeof scale);
  EXPECT_EQ(scale, 0.5F);
}

TEST(BlockLayout, what_is_missing_or_does_not_fit_is_named) {
  CallInputs inputs = call_inputs(10, 0);
  const auto error = [&] {
    const auto blocks = lay_out_blocks(plain_parameters(), inputs, {});
    return blocks ? "" : blocks.error().message;
  };
  EXPECT_EQ(error(), "");
  inputs.scalars.clear();
  EXPECT_THAT(error(), HasSubstr("'mode'"));
  inputs = call_inputs(10, 0);
  inputs.tensors.erase("x");
  EXPECT_THAT(error(), HasSubstr("'x'"));
  inputs = call_inputs(10, 0);
  inputs.sizes["n"] = 11;
  EXPECT_THAT(error(), HasSubstr("40 bytes of float32, not 44"));
  inputs.sizes.clear();
  EXPECT_THAT(error(), HasSubstr("'n'"));
}

TEST(BlockLayout, a_size_beyond_all_memory_is_an_error_and_does_not_wrap) {
  CallInputs inputs = call_inputs(1, 0);
  inputs.sizes["n"] = std::int64_t{1} << 40;
  const std::vector<Parameter> parameters{
      {"y", ParameterKind::output, DType::float64, {*Expression::parse("n"), *Expression::parse("n")}, 0}};
  const auto blocks = lay_out_blocks(parameters, inputs, {});
  ASSERT_FALSE(blocks);
  EXPECT_THAT(blocks.error().message, HasSubstr("'y'"));
}

TEST(BlockLayout, a_changed_guard_byte_is_found_on_either_side) {
  const Block block = blocks_of(plain_parameters(), 10, {})[0];
  const Guards guards = guards_of(block);
  const std::uint64_t seed = 42;
  const auto sentinels = [&](std::uint64_t start, std::uint64_t end) {
    std::vector<std::byte> bytes;
    for (std::uint64_t at = start; at < end; ++at) bytes.push_back(std::byte{protocol::sentinel(seed, at)});
    return bytes;
  };
  auto front = sentinels(guards.front_start, guards.front_end), back = sentinels(guards.back_start, guards.back_end);
  EXPECT_FALSE(first_damage(block, seed, front, back));
  back[5] ^= std::byte{1};
  EXPECT_EQ(first_damage(block, seed, front, back), 45);
  front.back() ^= std::byte{1};
  EXPECT_EQ(first_damage(block, seed, front, back), -1);
}

}  // namespace
}  // namespace kagent::runner
