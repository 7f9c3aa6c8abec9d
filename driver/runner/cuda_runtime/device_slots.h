// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runner/cuda_runtime/context.h"
#include "runner/protocol.h"

namespace kagent::runner::cuda {

// One argument of a slot, laid out in device memory.
struct Argument {
  protocol::Block block{};
  CUdeviceptr reserved = 0;  // what was allocated, `reserved_bytes` of it
  std::uint64_t reserved_bytes = 0;
  std::uint64_t mapped_bytes = 0;                  // where addresses were reserved and only so much memory put there
  CUmemGenericAllocationHandle memory_handle = 0;  // that memory
  CUdeviceptr mapping = 0;                         // the block
  CUdeviceptr pristine = 0;                        // inout: its contents before any call
  bool is_buffer() const {
    return block.kind != protocol::BlockKind::value && block.kind != protocol::BlockKind::stream;
  }
  bool is_written() const {
    return block.kind == protocol::BlockKind::output || block.kind == protocol::BlockKind::inout;
  }
  CUdeviceptr data() const { return mapping + block.data_offset; }
};

struct Slot {
  std::uint32_t count = 0;
  Argument arguments[protocol::kMostParameters];
  void* pointers[protocol::kMostParameters] = {};  // what the entry is given
  protocol::Geometry geometry{};                   // style kernel
};

// False where there is no memory for it, with the numbers in the reply; the slot is then empty. What it held is given
// back first.
bool lay_out(Slot& slot, const protocol::Block* blocks, std::uint32_t count, std::uint64_t seed,
             protocol::Reply& reply);
void release(Slot& slot);

// All of these go into the stream, and return before they are done.
void poison(const Slot& slot, std::uint8_t pattern, bool workspaces);
void restore_inouts(const Slot& slot);

// Of what the slot's outputs hold once the stream has come to this.
std::uint64_t fingerprint_of_outputs(const Slot& slot, std::uint64_t nonce);

void store(const Slot& slot, const protocol::Piece& piece);
void load(const Slot& slot, const protocol::Piece& piece);

}  // namespace kagent::runner::cuda
