// SPDX-License-Identifier: Apache-2.0
#include "runner/runtime/slots.h"

#include <linux/mman.h>
#include <sys/mman.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace kagent::runner {

using protocol::Block;
using protocol::BlockKind;
using protocol::kHugePageBytes;
using protocol::kLineBytes;
using protocol::kPageBytes;

namespace {

std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

void unmap(unsigned char* at, std::uint64_t bytes) {
  if (at != nullptr) system_call(SYS_munmap, at, static_cast<long>(bytes));
}

void release(Argument& argument) {
  unmap(argument.reserved, argument.reserved_bytes);
  unmap(argument.pristine, whole_pages(argument.block.data_bytes));
  argument = Argument{};
}

void fill_sentinels(const Argument& argument, std::uint64_t seed) {
  const Block& block = argument.block;
  const std::uint64_t front_end = block.data_offset, back_start = block.data_offset + block.data_bytes;
  for (std::uint64_t at = kPageBytes; at < front_end; ++at) argument.mapping[at] = protocol::sentinel(seed, at);
  for (std::uint64_t at = back_start; at < block.mapping_bytes - kPageBytes; ++at)
    argument.mapping[at] = protocol::sentinel(seed, at);
}

long lay_out(Argument& argument, const Block& block, std::uint64_t seed) {
  argument.block = block;
  if (!argument.is_buffer()) return 0;
  long error = 0;
  argument.reserved_bytes = block.mapping_bytes + (block.huge_pages != 0 ? kHugePageBytes : 0);
  argument.reserved = map_pages(argument.reserved_bytes, &error);
  if (argument.reserved == nullptr) return error;
  argument.mapping = argument.reserved;
  if (block.huge_pages != 0) {
    const auto unaligned = reinterpret_cast<std::uintptr_t>(argument.reserved) + block.data_offset - block.data_shift;
    argument.mapping += (kHugePageBytes - unaligned % kHugePageBytes) % kHugePageBytes;
    const std::uint64_t first = (block.data_offset - block.data_shift) / kPageBytes * kPageBytes;
    system_call(SYS_madvise, argument.mapping + first, static_cast<long>(block.mapping_bytes - kPageBytes - first),
                MADV_HUGEPAGE);
  }
  if (block.kind == BlockKind::inout && block.data_bytes > 0) {
    argument.pristine = map_pages(whole_pages(block.data_bytes), &error);
    if (argument.pristine == nullptr) return error;
  }
  fill_sentinels(argument, seed);
  system_call(SYS_mprotect, argument.mapping, kPageBytes, PROT_NONE);
  return system_call(SYS_mprotect, argument.mapping + block.mapping_bytes - kPageBytes, kPageBytes, PROT_NONE);
}

#if defined(__x86_64__)
bool has_clflushopt() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & (1U << 23)) != 0;
}
#endif

void flush_lines([[maybe_unused]] unsigned char* data, [[maybe_unused]] std::uint64_t bytes) {
#if defined(__x86_64__)
  static const bool optimised = has_clflushopt();
  auto at = reinterpret_cast<std::uintptr_t>(data) / kLineBytes * kLineBytes;
  const auto end = reinterpret_cast<std::uintptr_t>(data) + bytes;
  if (optimised)
    for (; at < end; at += kLineBytes) asm volatile(".byte 0x66; clflush (%0)" ::"r"(at) : "memory");
  else
    for (; at < end; at += kLineBytes) asm volatile("clflush (%0)" ::"r"(at) : "memory");
#elif defined(__aarch64__)
  auto at = reinterpret_cast<std::uintptr_t>(data) / kLineBytes * kLineBytes;
  for (const auto end = reinterpret_cast<std::uintptr_t>(data) + bytes; at < end; at += kLineBytes)
    asm volatile("dc civac, %0" ::"r"(at) : "memory");
#endif
}

}  // namespace

unsigned char* map_pages(std::uint64_t bytes, long* error) {
  const long at =
      system_call(SYS_mmap, 0L, static_cast<long>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at < 0 && at > -4096) {
    *error = at;
    return nullptr;
  }
  return reinterpret_cast<unsigned char*>(at);
}

long lay_out(Slot& slot, const Block* blocks, std::uint32_t count, std::uint64_t seed) {
  release(slot);
  slot.count = count;
  for (std::uint32_t i = 0; i < count; ++i) {
    Argument& argument = slot.arguments[i];
    if (const long error = lay_out(argument, blocks[i], seed); error < 0) {
      release(slot);
      return error;
    }
    slot.pointers[i] = argument.is_buffer() ? static_cast<void*>(argument.data()) : &argument.block.value;
  }
  return 0;
}

void release(Slot& slot) {
  for (std::uint32_t i = 0; i < slot.count; ++i) release(slot.arguments[i]);
  slot.count = 0;
}

void protect_inputs(const Slot& slot, bool protect) {
  for (std::uint32_t i = 0; i < slot.count; ++i) {
    const Argument& argument = slot.arguments[i];
    const Block& block = argument.block;
    if (block.write_protected == 0) continue;
    const std::uint64_t first = block.data_offset / kPageBytes * kPageBytes;
    const std::uint64_t bytes = whole_pages(block.data_offset + block.data_bytes) - first;
    system_call(SYS_mprotect, argument.mapping + first, static_cast<long>(bytes),
                protect ? PROT_READ : PROT_READ | PROT_WRITE);
  }
}

bool is_protected_input(const Slot& slot, std::uintptr_t address) {
  for (std::uint32_t i = 0; i < slot.count; ++i) {
    const Argument& argument = slot.arguments[i];
    if (argument.block.write_protected == 0) continue;
    const auto data = reinterpret_cast<std::uintptr_t>(argument.data());
    if (address >= data && address - data < argument.block.data_bytes) return true;
  }
  return false;
}

void poison(Slot& slot, std::uint8_t pattern) {
  for (std::uint32_t i = 0; i < slot.count; ++i) {
    const Argument& argument = slot.arguments[i];
    if (argument.block.kind == BlockKind::output || argument.block.kind == BlockKind::workspace)
      fill_bytes(argument.data(), pattern, argument.block.data_bytes);
  }
}

void poison_for_timing(Slot& slot, std::uint8_t pattern) {
  std::uint64_t together = 0;
  for (std::uint32_t i = 0; i < slot.count; ++i)
    if (slot.arguments[i].block.kind == BlockKind::output) together += slot.arguments[i].block.data_bytes;
  for (std::uint32_t i = 0; i < slot.count; ++i) {
    const Argument& argument = slot.arguments[i];
    if (argument.block.kind != BlockKind::output) continue;
    const std::uint64_t size = argument.block.data_bytes;
    if (together <= protocol::kPoisonWhollyBytes)
      fill_bytes(argument.data(), pattern, size);
    else
      for (std::uint64_t at = 0; at < size; at += kPageBytes)
        fill_bytes(argument.data() + at, pattern, size - at < kLineBytes ? size - at : kLineBytes);
  }
}

void restore_inouts(Slot& slot) {
  for (std::uint32_t i = 0; i < slot.count; ++i) {
    const Argument& argument = slot.arguments[i];
    if (argument.pristine != nullptr) copy_bytes(argument.data(), argument.pristine, argument.block.data_bytes);
  }
}

void flush(const Slot& slot) {
  for (std::uint32_t i = 0; i < slot.count; ++i)
    if (slot.arguments[i].is_buffer()) flush_lines(slot.arguments[i].data(), slot.arguments[i].block.data_bytes);
#if defined(__x86_64__)
  asm volatile("mfence" ::: "memory");
#elif defined(__aarch64__)
  asm volatile("dsb sy" ::: "memory");
#endif
}

std::uint64_t fingerprint_of_outputs(const Slot& slot, std::uint64_t nonce) {
  std::uint64_t result = nonce;
  for (std::uint32_t i = 0; i < slot.count; ++i)
    if (slot.arguments[i].is_written())
      result = protocol::fingerprint(result, slot.arguments[i].data(), slot.arguments[i].block.data_bytes, nonce);
  return result;
}

void store(Slot& slot, const protocol::Piece& piece, const unsigned char* area) {
  const Argument& argument = slot.arguments[piece.parameter];
  copy_bytes(argument.data() + piece.offset, area + piece.area_offset, piece.length);
  if (argument.pristine != nullptr)
    copy_bytes(argument.pristine + piece.offset, area + piece.area_offset, piece.length);
}

void load(const Slot& slot, const protocol::Piece& piece, unsigned char* area) {
  copy_bytes(area + piece.area_offset, slot.arguments[piece.parameter].mapping + piece.offset, piece.length);
}

}  // namespace kagent::runner
