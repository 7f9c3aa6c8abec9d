// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_runtime/context.h"

#include <cstdlib>
#include <cstring>

#include "runner/runtime/system.h"

// Made of kernels.cu: code for every architecture that the toolkit knows, so that no driver has to compile it.
asm(R"(
.section .rodata
.balign 64
.globl kagent_device_code
.hidden kagent_device_code
kagent_device_code:
.incbin ")" KAGENT_DEVICE_CODE R"("
.balign 8
.previous
)");
extern "C" [[gnu::visibility("hidden")]] const unsigned char kagent_device_code[];

namespace kagent::runner::cuda {

using protocol::Reply;
using protocol::ReplyKind;

namespace {

bool orderly = false;

}  // namespace

Context context;
unsigned char* area = nullptr;

void leave_orderly() {
  orderly = true;
}

void leave(int status) {
  if (orderly) std::exit(status);
  end_process(status);
}

void send(const Reply& reply) {
  // Without a driver there is nothing left to do.
  if (system_call(SYS_write, protocol::kSocket, reinterpret_cast<long>(&reply), sizeof reply) != sizeof reply)
    end_process(1);
}

void fail(ReplyKind kind, int code, const char* step) {
  Line line;
  line << step;
  if (code > 0) {
    line << ": " << static_cast<CUresult>(code);
    const char* text = nullptr;
    if (api.cuGetErrorString != nullptr) api.cuGetErrorString(static_cast<CUresult>(code), &text);
    if (text != nullptr) line << ": " << text;
  }
  std::memcpy(area, line.text(), protocol::kTextBytes);
  Reply reply{};
  reply.kind = kind;
  reply.code = code;
  send(reply);
  leave(1);
}

namespace {

void need(CUresult result, const char* step) {
  if (result != CUDA_SUCCESS) fail(ReplyKind::no_device, static_cast<int>(result), step);
}

int attribute(CUdevice_attribute which) {
  int value = 0;
  need(api.cuDeviceGetAttribute(&value, which, context.device), "cuDeviceGetAttribute");
  return value;
}

void load_own_kernels() {
  CUmodule module = nullptr;
  need(api.cuModuleLoadData(&module, kagent_device_code), "loading the runtime's own kernels");
  need(api.cuModuleGetFunction(&context.fill_sentinels, module, "kagent_fill_sentinels"), "kagent_fill_sentinels");
  need(api.cuModuleGetFunction(&context.gather, module, "kagent_gather"), "kagent_gather");
  need(api.cuModuleGetFunction(&context.sweep, module, "kagent_sweep"), "kagent_sweep");
  need(api.cuModuleGetFunction(&context.block, module, "kagent_block"), "kagent_block");
}

void* shared_memory(std::uint64_t bytes) {
  void* memory = nullptr;
  need(api.cuMemHostAlloc(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP), "cuMemHostAlloc");
  return memory;
}

}  // namespace

void open_context() {
  Line why;
  if (const int error = open_driver(why); error != 0) {
    // The text says it all; fail() would name the error again.
    std::memcpy(area, why.text(), protocol::kTextBytes);
    Reply reply{};
    reply.kind = ReplyKind::no_device;
    reply.code = error;
    send(reply);
    leave(1);
  }
  need(api.cuDeviceGet(&context.device, 0), "cuDeviceGet");
  CUcontext primary = nullptr;
  need(api.cuDevicePrimaryCtxRetain(&primary, context.device), "cuDevicePrimaryCtxRetain");
  need(api.cuCtxSetCurrent(primary), "cuCtxSetCurrent");
  context.l2_bytes = static_cast<std::uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  context.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  context.shared_bytes_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  load_own_kernels();
  need(api.cuStreamCreate(&context.stream, CU_STREAM_DEFAULT), "cuStreamCreate");
  need(api.cuEventCreate(&context.begin, CU_EVENT_DEFAULT), "cuEventCreate");
  need(api.cuEventCreate(&context.end, CU_EVENT_DEFAULT), "cuEventCreate");
  auto* const words = static_cast<std::uint32_t*>(shared_memory(protocol::kPageBytes));
  context.released = words;
  context.expired = words + protocol::kLineBytes / sizeof(std::uint32_t);
  *context.released = 0;
  *context.expired = 0;
  context.gathered = static_cast<unsigned char*>(shared_memory(kGatheredBytes));
  // Contents pass faster through pinned memory; where this file cannot be pinned they pass all the same.
  static_cast<void>(api.cuMemHostRegister(area, protocol::kAreaBytes, CU_MEMHOSTREGISTER_PORTABLE));
  std::size_t free = 0, total = 0;
  need(api.cuMemGetInfo(&free, &total), "cuMemGetInfo");
  context.free_at_start = free;
}

void launch(CUfunction function, unsigned blocks, unsigned threads, void** arguments, const char* step) {
  check(api.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, context.stream, arguments, nullptr), step);
}

}  // namespace kagent::runner::cuda
