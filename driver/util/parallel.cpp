// SPDX-License-Identifier: Apache-2.0
#include "util/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace kagent::util {

void parallel_chunks(std::int64_t count, std::int64_t chunk_size,
                     const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& work) {
  const std::int64_t chunks = chunk_count(count, chunk_size);
  std::atomic<std::int64_t> next{0};
  const auto take = [&] {
    for (std::int64_t chunk = next++; chunk < chunks; chunk = next++)
      work(chunk, chunk * chunk_size, std::min(count, (chunk + 1) * chunk_size));
  };
  const auto processors = static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::jthread> helpers;
  for (std::int64_t i = 1; i < std::min(processors, chunks); ++i) {
    try {
      helpers.emplace_back(take);
    } catch (const std::system_error&) {
      break;  // no more threads to be had: those that there are do the work
    }
  }
  take();
}

}  // namespace kagent::util
