// SPDX-License-Identifier: Apache-2.0
#include "util/parallel.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

namespace kagent::util {
namespace {

TEST(Parallel, every_element_is_visited_once_in_the_chunk_it_belongs_to) {
  constexpr std::int64_t kCount = 10'007, kChunk = 100;
  std::vector<std::atomic<int>> visits(kCount);
  std::atomic<int> wrong{0};
  parallel_chunks(kCount, kChunk, [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
    if (begin != chunk * kChunk || end > kCount || end - begin > kChunk) ++wrong;
    for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
  });
  EXPECT_EQ(wrong, 0);
  for (const auto& count : visits) ASSERT_EQ(count, 1);
  EXPECT_EQ(chunk_count(kCount, kChunk), 101);
}

TEST(Parallel, nothing_is_called_for_nothing) {
  int calls = 0;
  parallel_chunks(0, 10, [&](std::int64_t, std::int64_t, std::int64_t) { ++calls; });
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(chunk_count(0, 10), 0);
}

}  // namespace
}  // namespace kagent::util
