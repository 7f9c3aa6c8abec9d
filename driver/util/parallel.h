// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace kagent::util {

// A piece of so many elements is worth a thread of its own, and small enough that threads end at about the same time.
inline constexpr std::int64_t kElementsAChunk = std::int64_t{1} << 19;

// Calls work(chunk, begin, end) for each piece of [0, count) of `chunk_size` (the last may be shorter), on as many
// threads as there are processors, and returns when all is done. Pieces do not depend on the number of threads, so that
// what is summed up by piece, in their order, is the same on every machine. `work` must not throw.
void parallel_chunks(std::int64_t count, std::int64_t chunk_size,
                     const std::function<void(std::int64_t chunk, std::int64_t begin, std::int64_t end)>& work);

// How many pieces that gives.
constexpr std::int64_t chunk_count(std::int64_t count, std::int64_t chunk_size) {
  return (count + chunk_size - 1) / chunk_size;
}

}  // namespace kagent::util
