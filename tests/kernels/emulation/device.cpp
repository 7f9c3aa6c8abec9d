// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <ucontext.h>

namespace emulated {

Position position;

namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr unsigned kMostThreads = 1024, kWarp = 32;
constexpr std::size_t kMostSharedBytes = 227 * 1024;  // of one block, on sm_90

struct Barrier {
  unsigned arrived = 0, expected = 0, generation = 0;

  void release_if_complete() {
    if (arrived == 0 || arrived < expected) return;
    arrived = 0;
    ++generation;
  }
};

struct Fiber {
  std::vector<char> stack = std::vector<char>(kStackBytes);
  ucontext_t start{};
  std::jmp_buf resume{};
  bool started = false, finished = false;
  const Barrier* awaited = nullptr;
  unsigned awaited_generation = 0;
  uint3 thread{};
};

std::vector<Fiber> fibers;
std::vector<Barrier> warps;
std::vector<std::uint64_t> exchanged;
std::vector<unsigned char> shared_memory;
Barrier block_barrier;
unsigned running = 0;
std::jmp_buf scheduler;
const std::function<void()>* body = nullptr;

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "emulated device: %s\n", why);
  std::abort();
}

void yield() {
  if (_setjmp(fibers[running].resume) == 0) _longjmp(scheduler, 1);
}

void wait_at(Barrier& barrier) {
  const unsigned generation = barrier.generation;
  ++barrier.arrived;
  barrier.release_if_complete();
  if (barrier.generation != generation) return;
  fibers[running].awaited = &barrier;
  fibers[running].awaited_generation = generation;
  yield();
}

// A fiber runs its thread of one block after another: making fibers is slow.
void run_threads() {
  for (;;) {
    (*body)();
    Fiber& fiber = fibers[running];
    fiber.finished = true;
    for (Barrier* barrier : {&block_barrier, &warps[running / kWarp]}) {
      --barrier->expected;
      barrier->release_if_complete();
    }
    yield();
  }
}

void make_fibers(unsigned count) {
  if (fibers.size() >= count) return;
  fibers = std::vector<Fiber>(count);
  for (Fiber& fiber : fibers) {
    getcontext(&fiber.start);
    fiber.start.uc_stack.ss_sp = fiber.stack.data();
    fiber.start.uc_stack.ss_size = fiber.stack.size();
    fiber.start.uc_link = nullptr;
    makecontext(&fiber.start, run_threads, 0);
  }
}

// Runs one fiber until it waits or ends.
void advance(unsigned index) {
  running = index;
  Fiber& fiber = fibers[index];
  position.thread = fiber.thread;
  if (_setjmp(scheduler) != 0) return;
  if (fiber.started) _longjmp(fiber.resume, 1);
  fiber.started = true;
  setcontext(&fiber.start);
}

bool is_ready(const Fiber& fiber) {
  return !fiber.finished && (fiber.awaited == nullptr || fiber.awaited->generation != fiber.awaited_generation);
}

void prepare_fibers(dim3 block, unsigned threads) {
  make_fibers(threads);
  warps.assign((threads + kWarp - 1) / kWarp, {});
  exchanged.assign(warps.size() * kWarp, 0);
  block_barrier = {0, threads, 0};
  for (unsigned i = 0; i < threads; ++i) {
    Fiber& fiber = fibers[i];
    fiber.finished = false;
    fiber.awaited = nullptr;
    fiber.thread = {i % block.x, i / block.x % block.y, i / (block.x * block.y)};
    ++warps[i / kWarp].expected;
  }
}

void run_block(dim3 block, unsigned threads) {
  prepare_fibers(block, threads);
  for (unsigned finished = 0; finished < threads;) {
    bool progress = false;
    for (unsigned i = 0; i < threads; ++i) {
      if (!is_ready(fibers[i])) continue;
      fibers[i].awaited = nullptr;
      advance(i);
      progress = true;
      finished += fibers[i].finished ? 1 : 0;
    }
    if (!progress) give_up("threads of a block wait for each other forever");
  }
}

}  // namespace

void launch(dim3 grid, dim3 block, std::size_t shared_bytes, const std::function<void()>& thread) {
  const unsigned threads = block.x * block.y * block.z;
  if (threads == 0 || threads > kMostThreads) give_up("a block without threads, or with more than 1024");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) give_up("an empty grid");
  if (grid.y > 65535 || grid.z > 65535) give_up("a grid of more than 65535 blocks in y or z");
  if (shared_bytes > kMostSharedBytes) give_up("more shared memory than a block may have");
  shared_memory.assign(shared_bytes, 0xA5);
  body = &thread;
  position.block_extent = block;
  position.grid_extent = grid;
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        position.block = {x, y, z};
        run_block(block, threads);
      }
}

void* dynamic_shared_bytes() {
  return shared_memory.data();
}

void synchronise_block() {
  wait_at(block_barrier);
}
void synchronise_warp() {
  wait_at(warps[running / kWarp]);
}
int lane() {
  return static_cast<int>(running % kWarp);
}

std::uint64_t exchange(std::uint64_t mine, int source) {
  const unsigned first = running / kWarp * kWarp;
  exchanged[running] = mine;
  synchronise_warp();
  const bool there = source >= 0 && source < static_cast<int>(kWarp);
  const std::uint64_t value = there ? exchanged[first + static_cast<unsigned>(source)] : mine;
  synchronise_warp();
  return value;
}

}  // namespace emulated
