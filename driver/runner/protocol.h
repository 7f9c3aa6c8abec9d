// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the driver and the runtime in the candidate's process say to one another. Plain structs of fixed layout, for the
// runtime uses no library. Everything that comes back is untrusted: it shares its process with the candidate.

#include <cstddef>
#include <cstdint>

namespace kagent::runner::protocol {

// Descriptors in the candidate's process: a socket of packets, and the file in memory that both sides map.
inline constexpr int kSocket = 3;
inline constexpr int kExchange = 4;

inline constexpr int kSlots = 64;
inline constexpr int kMostParameters = 128;
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
inline constexpr std::size_t kLineBytes = 64;

// The exchange: the start block, then an area through which contents pass. Larger buffers go through it in parts, so
// that a call on gigabytes does not need its memory three times.
inline constexpr std::size_t kStartBytes = std::size_t{64} << 10;
inline constexpr std::size_t kAreaBytes = std::size_t{16} << 20;
inline constexpr std::size_t kExchangeBytes = kStartBytes + kAreaBytes;

// Outputs up to this size together are poisoned wholly before each timed call; of larger ones one line a page.
inline constexpr std::uint64_t kPoisonWhollyBytes = std::uint64_t{4} << 20;

// One instruction of a system call filter, as struct sock_filter.
struct FilterInstruction {
  std::uint16_t code;
  std::uint8_t jump_true, jump_false;
  std::uint32_t operand;
};
inline constexpr std::uint32_t kMostInstructions = 4096;
// In the filter stands for the process's own number, which is unknown when it is written.
inline constexpr std::uint32_t kOwnPidPlaceholder = 0x6B41'7069;

enum class TickSource : std::uint32_t { time_stamp_counter, monotonic_clock };

// Written by the driver before the process starts, but for `started`.
struct StartBlock {
  TickSource tick_source;
  std::uint32_t started;  // set by the runtime before any code of the candidate's runs
  std::uint64_t sweep_bytes;
  std::uint64_t sentinel_seed;
  std::uint32_t filter_length;
  std::uint32_t reserved;
  FilterInstruction filter[kMostInstructions];
};
static_assert(sizeof(StartBlock) <= kStartBytes);

enum class Operation : std::uint32_t { lay_out, store, load, call, sample, release };

enum Flags : std::uint32_t {
  kPoisonOutputs = 1,  // store: outputs and workspaces are poisoned first
  kCold = 2,           // sample
};

// Followed by `count` of Block (lay_out), Piece (store, load) or std::uint32_t slots (sample).
struct Request {
  Operation operation;
  std::uint32_t slot;
  std::uint64_t sequence;  // answered with the same
  std::uint64_t nonce;     // chooses where a fingerprint looks
  std::uint32_t count;
  std::uint32_t flags;
  std::uint32_t poison;
  std::uint32_t repetitions;
};

enum class BlockKind : std::uint32_t { value, input, output, inout, workspace };

// One argument. A value lies in `value`; a buffer in a mapping of
//   [inaccessible page | sentinels | data | sentinels | inaccessible page]
struct Block {
  BlockKind kind;
  std::uint32_t huge_pages;       // data_offset then leads to a multiple of 2 MiB, plus data_shift
  std::uint32_t write_protected;  // an input: cannot be written while it is called, but for timed calls
  std::uint32_t reserved;
  std::uint64_t value;
  std::uint64_t mapping_bytes;  // a multiple of the page
  std::uint64_t data_offset;    // from the start of the mapping
  std::uint64_t data_shift;     // how far data_offset is past an aligned address
  std::uint64_t data_bytes;
};

struct Piece {
  std::uint32_t parameter;
  std::uint32_t reserved;
  std::uint64_t offset;  // store: in the data; load: in the mapping
  std::uint64_t length;
  std::uint64_t area_offset;
};

// Pieces in one message: what a packet holds with room to spare.
inline constexpr std::size_t kMostPieces = 1024;
inline constexpr std::size_t kMostRequestBytes = sizeof(Request) + kMostPieces * sizeof(Piece);

enum class ReplyKind : std::uint32_t {
  ready,  // main() was reached
  done,
  no_memory,    // could not lay out the buffers: `code` is errno
  deadly,       // the signal `code` at `address`
  refused,      // the filter refused the system call `code`
  tampered,     // somebody had set up signal handling before the runtime did
  wrote_input,  // the signal `code` at `address`, which is one of a protected input's
  changed,      // the call changed what belongs to its caller: `code` is the Change
};

enum class Change : std::int32_t { none, registers, floating_modes, signal_mask, start_time };

struct Reply {
  ReplyKind kind;
  std::int32_t code;
  std::uint64_t sequence;
  std::uint64_t begin_ticks, end_ticks;  // the step, from the request's arrival to this reply
  std::uint64_t call_ticks;              // within: the calls of the entry alone, summed
  std::uint64_t fingerprint;             // of what the last call wrote, taken right after its return
  std::uint64_t address;
};

// The byte that stands at `offset` of a mapping where it is no data. Depends on the place, so that a shifted copy of a
// guard is no valid guard.
inline std::uint8_t sentinel(std::uint64_t seed, std::uint64_t offset) {
  const std::uint64_t mixed = (offset + seed) * 0x9E37'79B9'7F4A'7C15;
  return static_cast<std::uint8_t>(mixed >> 56);
}

// Of `bytes` (size a multiple of nothing in particular): all of up to 64 KiB, else 1024 lines at a distance that
// depends on nonce, which is not known while the candidate runs. Not cryptographic: it tells late writes, not forgers.
inline std::uint64_t fingerprint(std::uint64_t before, const unsigned char* bytes, std::uint64_t size,
                                 std::uint64_t nonce) {
  constexpr std::uint64_t kLines = 1024, kFactor = 0x9E37'79B9'7F4A'7C15;
  std::uint64_t lanes[4] = {before ^ size, before + 1, before + 2, before + 3};
  const std::uint64_t line_count = size / kLineBytes;
  const std::uint64_t step = line_count <= kLines ? 1 : line_count / kLines;
  for (std::uint64_t line = step == 1 ? 0 : nonce % step; line < line_count; line += step) {
    const unsigned char* at = bytes + line * kLineBytes;
    for (int word = 0; word < 8; ++word) {
      std::uint64_t value;
      __builtin_memcpy(&value, at + word * 8, 8);
      std::uint64_t& lane = lanes[word & 3];
      lane = (lane ^ value) * kFactor;
      lane ^= lane >> 29;
    }
  }
  for (std::uint64_t i = line_count * kLineBytes; i < size; ++i) lanes[i & 3] = (lanes[i & 3] ^ bytes[i]) * kFactor;
  std::uint64_t result = 0;
  for (std::uint64_t lane : lanes) result = (result ^ lane) * kFactor, result ^= result >> 32;
  return result;
}

}  // namespace kagent::runner::protocol
