// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_runtime/device_slots.h"

namespace kagent::runner::cuda {

using protocol::Block;
using protocol::BlockKind;
using protocol::kHugePageBytes;
using protocol::kPageBytes;

namespace {

// What the device keeps for itself beside buffers: stacks, the sweep's memory, code.
constexpr std::uint64_t kReserveBytes = std::uint64_t{512} << 20;
constexpr unsigned kThreads = 256, kMostBlocks = 1024;

std::uint64_t held = 0;

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

bool allocate(CUdeviceptr& into, std::uint64_t bytes) {
  const CUresult result = api.cuMemAlloc(&into, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return false;
  check(result, "cuMemAlloc for a buffer");
  held += bytes;
  return true;
}

void give_back(CUdeviceptr& memory, std::uint64_t bytes) {
  if (memory == 0) return;
  check(api.cuMemFree(memory), "cuMemFree of a buffer");
  held -= bytes;
  memory = 0;
}

// Memory that ends at the block's last page, where there is no memory any more: what is read or written beyond the data
// faults. False where the device cannot do that; nothing is left behind then.
bool map_to_the_end(Argument& argument) {
  const std::uint64_t wanted = argument.block.mapping_bytes - kPageBytes;
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = context.device;
  std::size_t granule = 0;
  if (api.cuMemGetAllocationGranularity(&granule, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM) != CUDA_SUCCESS)
    return false;
  const std::uint64_t mapped = round_up(wanted, granule);
  CUdeviceptr base = 0;
  if (api.cuMemAddressReserve(&base, mapped + granule, 0, 0, 0) != CUDA_SUCCESS) return false;
  CUmemGenericAllocationHandle handle = 0;
  bool done = false;
  if (api.cuMemCreate(&handle, mapped, &properties, 0) == CUDA_SUCCESS) {
    if (api.cuMemMap(base, mapped, 0, handle, 0) == CUDA_SUCCESS) {
      CUmemAccessDesc access{};
      access.location = properties.location;
      access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
      done = api.cuMemSetAccess(base, mapped, &access, 1) == CUDA_SUCCESS;
      if (!done) api.cuMemUnmap(base, mapped);
    }
    if (!done) api.cuMemRelease(handle);
  }
  if (!done) {
    api.cuMemAddressFree(base, mapped + granule);
    return false;
  }
  argument.reserved = base;
  argument.reserved_bytes = mapped + granule;
  argument.mapped_bytes = mapped;
  argument.memory_handle = handle;
  argument.mapping = base + mapped - wanted;
  held += mapped;
  return true;
}

void release(Argument& argument) {
  if (argument.mapped_bytes != 0) {
    check(api.cuMemUnmap(argument.reserved, argument.mapped_bytes), "cuMemUnmap of a buffer");
    check(api.cuMemRelease(argument.memory_handle), "cuMemRelease of a buffer");
    check(api.cuMemAddressFree(argument.reserved, argument.reserved_bytes), "cuMemAddressFree of a buffer");
    held -= argument.mapped_bytes;
  } else {
    give_back(argument.reserved, argument.reserved_bytes);
  }
  give_back(argument.pristine, argument.block.data_bytes);
  argument = Argument{};
}

void fill_sentinels(const Argument& argument, std::uint64_t seed, std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  CUdeviceptr mapping = argument.mapping;
  void* arguments[] = {&mapping, &seed, &begin, &end};
  const std::uint64_t blocks = (end - begin + kThreads - 1) / kThreads;
  launch(context.fill_sentinels, static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks), kThreads,
         arguments, "filling the guards");
}

bool lay_out(Argument& argument, const Block& block, std::uint64_t seed) {
  argument.block = block;
  if (!argument.is_buffer()) return true;
  if (block.at_end == 0 || !map_to_the_end(argument)) {
    argument.reserved_bytes = block.mapping_bytes + (block.huge_pages != 0 ? kHugePageBytes : 0);
    if (!allocate(argument.reserved, argument.reserved_bytes)) return false;
    argument.mapping = argument.reserved;
    if (block.huge_pages != 0) {
      const std::uint64_t unaligned = argument.reserved + block.data_offset - block.data_shift;
      argument.mapping += (kHugePageBytes - unaligned % kHugePageBytes) % kHugePageBytes;
    }
  }
  if (block.kind == BlockKind::inout && block.data_bytes > 0 && !allocate(argument.pristine, block.data_bytes))
    return false;
  fill_sentinels(argument, seed, kPageBytes, block.data_offset);
  fill_sentinels(argument, seed, block.data_offset + block.data_bytes, block.mapping_bytes - kPageBytes);
  return true;
}

std::uint64_t needed_bytes(const Block* blocks, std::uint32_t count) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (blocks[i].kind == BlockKind::value || blocks[i].kind == BlockKind::stream) continue;
    sum += blocks[i].mapping_bytes + (blocks[i].kind == BlockKind::inout ? blocks[i].data_bytes : 0) + kHugePageBytes;
  }
  return sum;
}

}  // namespace

bool lay_out(Slot& slot, const Block* blocks, std::uint32_t count, std::uint64_t seed, protocol::Reply& reply) {
  release(slot);
  reply.needed_bytes = needed_bytes(blocks, count);
  std::size_t free = 0, total = 0;
  check(api.cuMemGetInfo(&free, &total), "cuMemGetInfo");
  reply.free_bytes = free;
  if (context.free_at_start > free + held) reply.lost_bytes = context.free_at_start - free - held;
  if (reply.needed_bytes + kReserveBytes > free) return false;
  slot.count = count;
  for (std::uint32_t i = 0; i < count; ++i) {
    Argument& argument = slot.arguments[i];
    if (!lay_out(argument, blocks[i], seed)) {
      release(slot);
      return false;
    }
    slot.pointers[i] = &argument.block.value;
    if (argument.is_buffer()) slot.pointers[i] = reinterpret_cast<void*>(argument.data());
    if (argument.block.kind == BlockKind::stream) slot.pointers[i] = context.stream;
  }
  return true;
}

void release(Slot& slot) {
  for (std::uint32_t i = 0; i < slot.count; ++i) release(slot.arguments[i]);
  slot.count = 0;
}

void poison(const Slot& slot, std::uint8_t pattern, bool workspaces) {
  for (std::uint32_t i = 0; i < slot.count; ++i) {
    const Argument& argument = slot.arguments[i];
    const bool filled =
        argument.block.kind == BlockKind::output || (workspaces && argument.block.kind == BlockKind::workspace);
    if (filled && argument.block.data_bytes > 0)
      check(api.cuMemsetD8Async(argument.data(), pattern, argument.block.data_bytes, context.stream),
            "cuMemsetD8Async of an output");
  }
}

void restore_inouts(const Slot& slot) {
  for (std::uint32_t i = 0; i < slot.count; ++i) {
    const Argument& argument = slot.arguments[i];
    if (argument.pristine != 0)
      check(api.cuMemcpyDtoDAsync(argument.data(), argument.pristine, argument.block.data_bytes, context.stream),
            "cuMemcpyDtoDAsync to restore a buffer");
  }
}

std::uint64_t fingerprint_of_outputs(const Slot& slot, std::uint64_t nonce) {
  std::uint64_t result = nonce;
  for (std::uint32_t i = 0; i < slot.count; ++i) {
    const Argument& argument = slot.arguments[i];
    if (!argument.is_written()) continue;
    CUdeviceptr data = argument.data();
    std::uint64_t size = argument.block.data_bytes;
    protocol::FingerprintLines look = protocol::fingerprint_lines(size, nonce);
    unsigned char* to = context.gathered;
    const std::uint64_t lines = look.count * protocol::kLineBytes, bytes = lines + look.rest;
    if (bytes > 0) {
      void* arguments[] = {&data, &size, &look.first, &look.step, &look.count, &look.rest, &to};
      launch(context.gather, static_cast<unsigned>((bytes + kThreads - 1) / kThreads), kThreads, arguments,
             "gathering the outputs' fingerprint");
      check(api.cuStreamSynchronize(context.stream), "the call");
    }
    result = protocol::fingerprint(result, size, look, to, protocol::kLineBytes, to + lines);
  }
  return result;
}

void store(const Slot& slot, const protocol::Piece& piece) {
  if (piece.length == 0) return;
  const Argument& argument = slot.arguments[piece.parameter];
  check(api.cuMemcpyHtoD(argument.data() + piece.offset, area + piece.area_offset, piece.length),
        "cuMemcpyHtoD of an input");
  if (argument.pristine != 0)
    check(api.cuMemcpyDtoDAsync(argument.pristine + piece.offset, argument.data() + piece.offset, piece.length,
                                context.stream),
          "cuMemcpyDtoDAsync of an input");
}

void load(const Slot& slot, const protocol::Piece& piece) {
  if (piece.length == 0) return;
  check(
      api.cuMemcpyDtoH(area + piece.area_offset, slot.arguments[piece.parameter].mapping + piece.offset, piece.length),
      "cuMemcpyDtoH of a buffer");
}

}  // namespace kagent::runner::cuda
