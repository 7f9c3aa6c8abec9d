// SPDX-License-Identifier: Apache-2.0
// How often each of the 256 byte values occurs in `data`: bins[v] is the number of bytes equal to v.
#include "histogram.h"

#include <cstdint>
#include <cstring>

// Bytes a step of the loop, and how many of them are read from memory at once.
#ifndef STEP
#define STEP 1
#endif
#ifndef WORD
#define WORD 1
#endif
// Tables that the bytes of a step are counted in by turns: two equal bytes in a row then need not wait for each other.
#ifndef TABLES
#define TABLES 1
#endif
// 0: one table after the other. 1: the counters of one byte value side by side.
#ifndef INTERLEAVED
#define INTERLEAVED 0
#endif
// Bits of a counter in the tables; narrow ones are emptied before they can overflow.
#ifndef COUNTER_BITS
#define COUNTER_BITS 32
#endif

namespace kagent::kernels {
namespace {

#if COUNTER_BITS == 16
using Counter = std::uint16_t;
#else
using Counter = std::uint32_t;
#endif
#if WORD == 8
using Word = std::uint64_t;
#elif WORD == 4
using Word = std::uint32_t;
#elif WORD == 2
using Word = std::uint16_t;
#else
using Word = std::uint8_t;
#endif

constexpr int kStep = STEP;
// As many bytes as no counter can overflow on: at most kChunk / TABLES of a step go to one table, plus a remainder.
constexpr std::int64_t kChunk = COUNTER_BITS == 16 ? 61440 : std::int64_t{1} << 30;

inline int position(int table, int value) {
  return INTERLEAVED ? value * TABLES + table : table * 256 + value;
}

void count_chunk(const std::uint8_t* __restrict data, std::int64_t count, Counter* __restrict tables) {
  std::int64_t i = 0;
  for (; i + kStep <= count; i += kStep) {
#pragma GCC unroll kStep
    for (int at = 0; at < kStep; at += WORD) {
      Word word;
      std::memcpy(&word, data + i + at, sizeof word);
      for (int byte = 0; byte < WORD; ++byte) {
        const int value = static_cast<int>(word >> (8 * byte)) & 0xFF;
        ++tables[position((at + byte) % TABLES, value)];
      }
    }
  }
  for (; i < count; ++i) ++tables[position(0, data[i])];
}

}  // namespace

void byte_histogram(const std::uint8_t* data, std::uint32_t* bins, int count) {
  for (int value = 0; value < 256; ++value) bins[value] = 0;
  Counter tables[TABLES * 256];
  for (std::int64_t begin = 0; begin < count; begin += kChunk) {
    std::memset(tables, 0, sizeof tables);
    count_chunk(data + begin, count - begin < kChunk ? count - begin : kChunk, tables);
    for (int value = 0; value < 256; ++value)
      for (int table = 0; table < TABLES; ++table) bins[value] += tables[position(table, value)];
  }
}

}  // namespace kagent::kernels
