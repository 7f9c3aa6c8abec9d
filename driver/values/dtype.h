// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kagent {

// Element types of buffers and scalars. Names as in kernel.json.
enum class DType {
  float64,
  float32,
  float16,
  bfloat16,
  float8_e4m3,
  float8_e5m2,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  boolean,  // "bool": one byte, 0 or 1
};

std::string_view name(DType dtype);                       // "float32"
std::optional<DType> parse_dtype(std::string_view text);  // inverse of name()
std::size_t size_bytes(DType dtype);
bool is_floating(DType dtype);
bool is_signed_integer(DType dtype);
// Unit roundoff u of a floating type: fp32 2^-24, fp16 2^-11, bf16 2^-8 (Higham, Accuracy and Stability, 2.1).
double unit_roundoff(DType dtype);
// Largest finite value of a floating type.
double largest_finite(DType dtype);

// One element, little endian in memory, as double. Exact for every type but int64 and uint64 beyond 2^53.
double load_as_double(DType dtype, const std::byte* element);
// Rounds to nearest even into the type; saturates integers, overflows floats to infinity (e4m3: NaN).
void store_from_double(DType dtype, double value, std::byte* element);
// How many representable values of the type lie between a and b, both rounded to it first: 0 for equal values, two
// NaNs, and +0 against -0; infinite if only one of them is finite. For integers the difference.
double ulp_distance(DType dtype, double a, double b);

}  // namespace kagent
