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
  std::uint32_t exits_orderly;  // at the end the program exits as usual, for the sake of a tool that it runs under
  FilterInstruction filter[kMostInstructions];
};
static_assert(sizeof(StartBlock) <= kStartBytes);

enum class Operation : std::uint32_t {
  lay_out,
  store,
  load,
  call,
  sample,
  release,
  // Of programs with device code. The names of metrics lie in the area, a line each; answered there with a line for
  // each value, "<kernel> <metric> <value>", or "! <why there are none>".
  count,
  // The same: answered with a line for each piece of work on the device, "<kind> <begin ns> <end ns> <grid> <block>
  // <cluster> <registers> <static and dynamic shared bytes> <local bytes> <name>" (kind as WorkKind, three numbers each
  // for the extents), and "= <ns between the events around the call>", or "! <why there is nothing>".
  trace,
  // Of kagent-cuda-runner alone.
  load_module,   // followed by Module; the device code passes through the area
  set_geometry,  // followed by Geometry: how the slot's calls launch the module's kernel
  reset,         // every slot released, the module unloaded
};

enum Flags : std::uint32_t {
  kPoisonOutputs = 1,  // store: outputs and workspaces are poisoned first
  kCold = 2,           // sample
  kGraph = 4,          // sample: as one graph, if the calls can be captured
};

// Followed by `count` of Block (lay_out), Piece (store, load) or std::uint32_t slots (sample); see Operation.
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

enum class BlockKind : std::uint32_t { value, input, output, inout, workspace, stream };

// One argument. A value lies in `value`; a buffer in a mapping of
//   [inaccessible page | sentinels | data | sentinels | inaccessible page]
// A GPU has larger pages: there the outer two are neither looked at nor inaccessible, but for the last one where
// `at_end` says that the data ends where the mapped memory ends, if the device can do that.
struct Block {
  BlockKind kind;
  std::uint32_t huge_pages;       // data_offset then leads to a multiple of 2 MiB, plus data_shift
  std::uint32_t write_protected;  // an input: cannot be written while it is called, but for timed calls
  std::uint32_t at_end;           // Placement::end_of_block
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

// The name of a __constant__ variable or of a kernel, as it stands in the device code.
inline constexpr std::size_t kMostSymbol = 2048;

// In parts of at most kAreaBytes, the last of which loads it. `constants` follow: as many of Constant.
struct Module {
  std::uint64_t total_bytes, offset, length;
  std::uint32_t parameters;  // of the entry, the __constant__ ones included
  std::uint32_t constants;
  char symbol[kMostSymbol];
};

// An input that is not passed, but copied to a __constant__ variable before each call.
struct Constant {
  std::uint32_t parameter;
  char symbol[256];
};
inline constexpr std::uint32_t kMostConstants = 32;

struct Geometry {
  std::uint32_t grid[3], block[3];
  std::uint32_t cluster[3];  // all 0: none
  std::uint32_t shared_bytes;
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
  // Of programs with device code. A line of text lies at the start of the area: the step, and the error's name.
  device_error,  // CUDA's error number `code`, left behind by the candidate or met by the runtime
  no_device,     // the context could not be made: CUDA's error number `code`, or -1
  bad_module,    // the device code could not be loaded, or has not what was promised of it: `code` as above
};

enum class Change : std::int32_t { none, registers, floating_modes, signal_mask, start_time, late_output };

struct Reply {
  ReplyKind kind;
  std::int32_t code;
  std::uint64_t sequence;
  std::uint64_t begin_ticks, end_ticks;  // the step, from the request's arrival to this reply
  std::uint64_t call_ticks;              // within: the calls of the entry alone, summed
  std::uint64_t fingerprint;             // of what the last call wrote, taken right after its return
  std::uint64_t address;
  // Of programs with device code.
  std::uint64_t device_ns;  // the calls alone, summed, by the device's clock; call_ticks is then their span on the host
  std::uint64_t late_ns;    // least time, over the calls, for which the device worked on after their end
  std::uint64_t free_bytes;  // no_memory: device memory that was free, of the `needed_bytes` that were asked for
  std::uint64_t needed_bytes;
  std::uint64_t lost_bytes;  // device memory that went since the start and is in none of the runtime's buffers
  std::uint32_t by_graph;
  std::uint32_t reserved;
};

// What 'kagent-cuda-runner --watch' answers to a byte.
struct StateReply {
  std::uint64_t throttle_reasons;
  std::uint32_t clock_mhz, memory_clock_mhz, temperature_celsius, power_milliwatts, compute_processes, reserved;
};

// Bytes of text in the area, its end included.
inline constexpr std::size_t kTextBytes = 512;
// The names of metrics in a request for counters, together.
inline constexpr std::size_t kMetricsBytes = std::size_t{64} << 10;

// The byte that stands at `offset` of a mapping where it is no data. Depends on the place, so that a shifted copy of a
// guard is no valid guard.
inline std::uint8_t sentinel(std::uint64_t seed, std::uint64_t offset) {
  const std::uint64_t mixed = (offset + seed) * 0x9E37'79B9'7F4A'7C15;
  return static_cast<std::uint8_t>(mixed >> 56);
}

// Which lines of a buffer a fingerprint looks at: all of up to 64 KiB, else 1024 or a few more at a distance that
// depends on nonce, which is not known while the candidate runs; and the bytes after the last whole line.
struct FingerprintLines {
  std::uint64_t first, step, count, rest;
};
inline FingerprintLines fingerprint_lines(std::uint64_t size, std::uint64_t nonce) {
  constexpr std::uint64_t kLines = 1024;
  const std::uint64_t lines = size / kLineBytes;
  const std::uint64_t step = lines <= kLines ? 1 : lines / kLines;
  const std::uint64_t first = step == 1 ? 0 : nonce % step;
  return {first, step, lines > first ? (lines - first + step - 1) / step : 0, size % kLineBytes};
}

// Over these lines, `distance` bytes apart, and the rest. Not cryptographic: it tells late writes, not forgers.
inline std::uint64_t fingerprint(std::uint64_t before, std::uint64_t size, const FingerprintLines& look,
                                 const unsigned char* first, std::uint64_t distance, const unsigned char* rest) {
  constexpr std::uint64_t kFactor = 0x9E37'79B9'7F4A'7C15;
  std::uint64_t lanes[4] = {before ^ size, before + 1, before + 2, before + 3};
  for (std::uint64_t line = 0; line < look.count; ++line) {
    const unsigned char* at = first + line * distance;
    for (int word = 0; word < 8; ++word) {
      std::uint64_t value;
      __builtin_memcpy(&value, at + word * 8, 8);
      std::uint64_t& lane = lanes[word & 3];
      lane = (lane ^ value) * kFactor;
      lane ^= lane >> 29;
    }
  }
  for (std::uint64_t i = 0; i < look.rest; ++i) lanes[i & 3] = (lanes[i & 3] ^ rest[i]) * kFactor;
  std::uint64_t result = 0;
  for (std::uint64_t lane : lanes) result = (result ^ lane) * kFactor, result ^= result >> 32;
  return result;
}

// Of `bytes` as they lie.
inline std::uint64_t fingerprint(std::uint64_t before, const unsigned char* bytes, std::uint64_t size,
                                 std::uint64_t nonce) {
  const FingerprintLines look = fingerprint_lines(size, nonce);
  return fingerprint(before, size, look, bytes + look.first * kLineBytes, look.step * kLineBytes,
                     bytes + (size - look.rest));
}

}  // namespace kagent::runner::protocol
