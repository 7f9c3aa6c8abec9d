// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "values/error.h"

namespace kagent::toolchain {

// How often each width in bits occurs: {32: 4, 128: 2}.
using Widths = std::map<int, std::int64_t>;

// Of the instructions that one line of the source gave.
struct SassLine {
  std::int64_t instructions = 0;
  std::int64_t global_accesses = 0, narrow_accesses = 0;  // to global memory; of these, those of 32 bits and less
  std::int64_t local = 0, tensor = 0, barriers = 0, fp64 = 0;
};

// Instructions of one kernel as they lie in the machine code (not as often as they are executed).
struct SassStatistics {
  std::string kernel;  // readable name
  std::int64_t instructions = 0;
  // By unit. What belongs to none of these (moves between registers, predicates, ...) counts as integer.
  std::int64_t fp32 = 0, fp64 = 0, fp16 = 0, integer = 0, tensor = 0, special_function = 0, control = 0, memory = 0;
  Widths global_loads, global_stores, shared_loads, shared_stores;
  std::int64_t async_copies = 0, bulk_copies = 0;  // LDGSTS; UBLKCP and tensor map copies (TMA)
  std::int64_t local_loads = 0, local_stores = 0;  // spills, and arrays that are indexed at run time
  std::int64_t atomics = 0, barriers = 0, branches = 0;
  std::map<std::string, std::int64_t> tensor_instructions;  // "HGMMA.64x128x16.F32.BF16": 4
  std::map<int, SassLine> lines;                            // by source line, where -lineinfo tells
};

// Out of the text that `nvdisasm` (with -g for lines) or `cuobjdump -sass` prints.
std::vector<SassStatistics> parse_sass(std::string_view text);

// Where nvdisasm is: `toolkit`/bin, or the search path.
struct Disassembler {
  std::filesystem::path program;  // empty: there is none
  std::string reason;             // why there is none, and what to install
};
Disassembler find_disassembler(const std::filesystem::path& toolkit);

// Statistics of the kernels in `cubin`, in the sandbox where there is one: the code is a candidate's.
Result<std::vector<SassStatistics>> disassemble(const Disassembler& disassembler, const std::filesystem::path& cubin);

}  // namespace kagent::toolchain
