// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runner/protocol.h"
#include "runner/runtime/system.h"

namespace kagent::runner {

// One argument of a slot, laid out.
struct Argument {
  protocol::Block block{};
  unsigned char* reserved = nullptr;  // what was mapped, `reserved_bytes` of it
  std::uint64_t reserved_bytes = 0;
  unsigned char* mapping = nullptr;   // the block in it
  unsigned char* pristine = nullptr;  // inout: its contents before any call
  bool is_buffer() const { return block.kind != protocol::BlockKind::value; }
  bool is_written() const {
    return block.kind == protocol::BlockKind::output || block.kind == protocol::BlockKind::inout;
  }
  unsigned char* data() const { return mapping + block.data_offset; }
};

struct Slot {
  std::uint32_t count = 0;
  Argument arguments[protocol::kMostParameters];
  void* pointers[protocol::kMostParameters] = {};  // what the entry is given
};

// Negative errno, or 0. What the slot held is given back first.
long lay_out(Slot& slot, const protocol::Block* blocks, std::uint32_t count, std::uint64_t seed);
void release(Slot& slot);

// Keeps the slot's write-protected inputs from being written, or lets them be written again.
void protect_inputs(const Slot& slot, bool protect);
// Whether the address lies in one of them.
bool is_protected_input(const Slot& slot, std::uintptr_t address);

// Fills outputs and workspaces.
void poison(Slot& slot, std::uint8_t pattern);
// As poison() for outputs; of large ones only a line of each page.
void poison_for_timing(Slot& slot, std::uint8_t pattern);
void restore_inouts(Slot& slot);
// Puts the slot's data out of all caches, as far as the processor lets a program do that.
void flush(const Slot& slot);
std::uint64_t fingerprint_of_outputs(const Slot& slot, std::uint64_t nonce);

void store(Slot& slot, const protocol::Piece& piece, const unsigned char* area);
void load(const Slot& slot, const protocol::Piece& piece, unsigned char* area);

// Private memory of whole pages; null if there is none.
unsigned char* map_pages(std::uint64_t bytes, long* error);

}  // namespace kagent::runner
