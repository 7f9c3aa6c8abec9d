// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runner/cuda_runtime/driver_api.h"
#include "runner/protocol.h"

namespace kagent::runner::cuda {

// What the runtime holds of the device: the primary context, which the CUDA runtime in a candidate shares, and a stream
// that waits for the default stream and is waited for by it, so that work of a candidate in either is in order.
struct Context {
  CUdevice device = 0;
  CUstream stream = nullptr;
  CUevent begin = nullptr, end = nullptr;
  CUfunction fill_sentinels = nullptr, gather = nullptr, sweep = nullptr, block = nullptr;
  std::uint64_t l2_bytes = 0;
  int multiprocessors = 0;
  int shared_bytes_per_block = 0;
  std::uint64_t free_at_start = 0;             // device memory
  volatile std::uint32_t* released = nullptr;  // host memory that the device sees
  volatile std::uint32_t* expired = nullptr;
  unsigned char* gathered = nullptr;  // the same, kGatheredBytes
};
extern Context context;

// What fits a fingerprint's lines of one buffer.
inline constexpr std::uint64_t kGatheredBytes = std::uint64_t{256} << 10;

extern unsigned char* area;  // the exchange's

// Ends the process: at once, or from leave_orderly() on as programs usually end, for a tool that has to hear of it.
[[noreturn]] void leave(int status);
void leave_orderly();

// Tells the driver how it ended, and ends the process.
[[noreturn]] void fail(protocol::ReplyKind kind, int code, const char* step);
inline void check(CUresult result, const char* step) {
  if (result != CUDA_SUCCESS) fail(protocol::ReplyKind::device_error, static_cast<int>(result), step);
}

void send(const protocol::Reply& reply);

// Makes all of `context`; fails with no_device where that does not work.
void open_context();

// Launches one of the functions above on the stream.
void launch(CUfunction function, unsigned blocks, unsigned threads, void** arguments, const char* step);

}  // namespace kagent::runner::cuda
