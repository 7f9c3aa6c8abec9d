// SPDX-License-Identifier: Apache-2.0
// A fake of a CUDA device, for tests on machines without one: each thread of a block is a fiber of the one thread that
// runs the test, and blocks run one after another. It shows wrong indices, missing barriers and wrong arithmetic; it
// says nothing of speed, and little of races.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

namespace emulated {

// Where the running fiber is.
struct Position {
  uint3 thread, block;
  dim3 block_extent, grid_extent;
};
extern Position position;

// Runs `thread` once for each thread of the grid. Aborts with a message if threads wait for each other forever, if a
// block is larger than a device allows, or if the grid is empty.
void launch(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& thread);

// The dynamic shared memory of the running block.
void* dynamic_shared_bytes();
template <class T>
T* dynamic_shared() {
  return static_cast<T*>(dynamic_shared_bytes());
}

void synchronise_block();
void synchronise_warp();
int lane();

// The 8 bytes that lane `source` of the warp brings to this exchange; the own ones if there is no such lane.
std::uint64_t exchange(std::uint64_t mine, int source);

template <class T>
T exchange_value(T mine, int source) {
  static_assert(sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &mine, sizeof mine);
  bits = exchange(bits, source);
  std::memcpy(&mine, &bits, sizeof mine);
  return mine;
}

}  // namespace emulated
