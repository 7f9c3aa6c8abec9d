// SPDX-License-Identifier: Apache-2.0
#include "values/dtype.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace kagent {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are little endian in memory");
static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);

constexpr std::array<std::pair<DType, std::string_view>, 15> kNames{{
    {DType::float64, "float64"},
    {DType::float32, "float32"},
    {DType::float16, "float16"},
    {DType::bfloat16, "bfloat16"},
    {DType::float8_e4m3, "float8_e4m3"},
    {DType::float8_e5m2, "float8_e5m2"},
    {DType::int8, "int8"},
    {DType::int16, "int16"},
    {DType::int32, "int32"},
    {DType::int64, "int64"},
    {DType::uint8, "uint8"},
    {DType::uint16, "uint16"},
    {DType::uint32, "uint32"},
    {DType::uint64, "uint64"},
    {DType::boolean, "bool"},
}};

// A binary floating-point format of 8 or 16 bits: sign, exponent, fraction.
struct SmallFloat {
  int fraction_bits;
  int bias;
  std::uint32_t infinity;  // code of the overflow result: infinity, or NaN for e4m3
  std::uint32_t nan;       // canonical quiet NaN
  bool has_infinity;
  int sign_bit;
};

// IEEE 754 binary16; bfloat16 is the upper half of binary32; the FP8 formats are those of the OCP 8-bit Floating Point
// Specification 1.0: e5m2 as IEEE, e4m3 without infinity and with the single NaN code 0x7f.
constexpr SmallFloat kFloat16{10, 15, 0x7C00, 0x7E00, true, 15};
constexpr SmallFloat kBfloat16{7, 127, 0x7F80, 0x7FC0, true, 15};
constexpr SmallFloat kFloat8E4M3{3, 7, 0x7F, 0x7F, false, 7};
constexpr SmallFloat kFloat8E5M2{2, 15, 0x7C, 0x7E, true, 7};

constexpr int kDoubleFraction = 52;
constexpr int kDoubleBias = 1023;

double decode(const SmallFloat& format, std::uint32_t code) {
  const std::uint32_t magnitude = code & ((1U << format.sign_bit) - 1);
  const double sign = (code >> format.sign_bit) != 0 ? -1.0 : 1.0;
  if (magnitude >= format.infinity) {
    const bool infinite = format.has_infinity && magnitude == format.infinity;
    return std::copysign(infinite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN(),
                         sign);
  }
  const std::uint64_t exponent = magnitude >> format.fraction_bits;
  const std::uint64_t fraction = magnitude & ((1U << format.fraction_bits) - 1);
  if (exponent == 0) {
    const int quantum = 1 - format.bias - format.fraction_bits;
    const auto scale = std::bit_cast<double>(static_cast<std::uint64_t>(quantum + kDoubleBias) << kDoubleFraction);
    return sign * static_cast<double>(fraction) * scale;
  }
  const std::uint64_t wide = (exponent + static_cast<std::uint64_t>(kDoubleBias - format.bias)) << kDoubleFraction |
                             fraction << (kDoubleFraction - format.fraction_bits);
  return sign * std::bit_cast<double>(wide);
}

// Rounds to nearest even. A fraction that rounds up to the next power of two carries into the exponent by itself.
std::uint32_t encode(const SmallFloat& format, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint32_t>(bits >> 63) << format.sign_bit;
  if (std::isnan(value)) return sign | format.nan;
  const int exponent = static_cast<int>(bits >> kDoubleFraction & 0x7FF) - kDoubleBias;
  if (exponent > format.bias + 1) return sign | format.infinity;
  const int lowest = 1 - format.bias;  // exponent of the smallest normal number
  const int kept = std::max(exponent, lowest);
  const int shift = kDoubleFraction - format.fraction_bits + (kept - exponent);
  if (shift > kDoubleFraction + 1) return sign;  // under half of the smallest number, double subnormals included
  const std::uint64_t significand = (bits & ((1ULL << kDoubleFraction) - 1)) | 1ULL << kDoubleFraction;
  std::uint64_t rounded = significand >> shift;
  const std::uint64_t rest = significand & ((1ULL << shift) - 1);
  const std::uint64_t half = 1ULL << (shift - 1);
  if (rest > half || (rest == half && (rounded & 1) != 0)) ++rounded;
  const std::uint64_t code = (static_cast<std::uint64_t>(kept - lowest) << format.fraction_bits) + rounded;
  return sign | static_cast<std::uint32_t>(std::min<std::uint64_t>(code, format.infinity));
}

const SmallFloat& small_format(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return kFloat16;
    case DType::bfloat16:
      return kBfloat16;
    case DType::float8_e4m3:
      return kFloat8E4M3;
    default:
      return kFloat8E5M2;
  }
}

template <class T>
T load(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <class T>
void store(T value, std::byte* element) {
  std::memcpy(element, &value, sizeof value);
}

template <class T>
void store_saturated(double value, std::byte* element) {
  const double rounded = std::nearbyint(value);
  // max() + 1 is a power of two and so exact as double, unlike max() of the 64-bit types.
  constexpr double kEnd = 2.0 * static_cast<double>(std::uint64_t{1} << (std::numeric_limits<T>::digits - 1));
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  T result = 0;
  if (rounded >= kEnd)
    result = std::numeric_limits<T>::max();
  else if (rounded <= kLow)
    result = std::numeric_limits<T>::min();
  else if (!std::isnan(rounded))
    result = static_cast<T>(rounded);
  store(result, element);
}

// Position of a finite value on the number line of its type, counted in representable values from 0.
std::int64_t ordinal(DType dtype, double value) {
  if (dtype == DType::float64) {
    const auto magnitude = static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(std::fabs(value)));
    return std::signbit(value) ? -magnitude : magnitude;
  }
  std::int64_t magnitude = 0;
  if (dtype == DType::float32)
    magnitude = std::bit_cast<std::uint32_t>(std::fabs(static_cast<float>(value)));
  else
    magnitude = encode(small_format(dtype), std::fabs(value));
  return std::signbit(value) ? -magnitude : magnitude;
}

double rounded_to(DType dtype, double value) {
  std::array<std::byte, sizeof(double)> element{};
  store_from_double(dtype, value, element.data());
  return load_as_double(dtype, element.data());
}

}  // namespace

std::string_view name(DType dtype) {
  for (const auto& [value, text] : kNames)
    if (value == dtype) return text;
  std::unreachable();
}

std::optional<DType> parse_dtype(std::string_view text) {
  for (const auto& [value, known] : kNames)
    if (known == text) return value;
  return std::nullopt;
}

std::size_t size_bytes(DType dtype) {
  switch (dtype) {
    case DType::float64:
    case DType::int64:
    case DType::uint64:
      return 8;
    case DType::float32:
    case DType::int32:
    case DType::uint32:
      return 4;
    case DType::float16:
    case DType::bfloat16:
    case DType::int16:
    case DType::uint16:
      return 2;
    case DType::float8_e4m3:
    case DType::float8_e5m2:
    case DType::int8:
    case DType::uint8:
    case DType::boolean:
      return 1;
  }
  std::unreachable();
}

bool is_floating(DType dtype) {
  return dtype <= DType::float8_e5m2;
}

bool is_signed_integer(DType dtype) {
  return dtype >= DType::int8 && dtype <= DType::int64;
}

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 0x1p-53;
    case DType::float32:
      return 0x1p-24;
    case DType::float16:
      return 0x1p-11;
    case DType::bfloat16:
      return 0x1p-8;
    case DType::float8_e4m3:
      return 0x1p-4;
    case DType::float8_e5m2:
      return 0x1p-3;
    default:
      return 0;
  }
}

double largest_finite(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return std::numeric_limits<double>::max();
    case DType::float32:
      return std::numeric_limits<float>::max();
    case DType::float16:
      return 65504;
    case DType::bfloat16:
      return 0x1.FEp127;
    case DType::float8_e4m3:
      return 448;
    case DType::float8_e5m2:
      return 57344;
    default:
      return 0;
  }
}

double load_as_double(DType dtype, const std::byte* element) {
  switch (dtype) {
    case DType::float64:
      return load<double>(element);
    case DType::float32:
      return load<float>(element);
    case DType::float16:
    case DType::bfloat16:
      return decode(small_format(dtype), load<std::uint16_t>(element));
    case DType::float8_e4m3:
    case DType::float8_e5m2:
      return decode(small_format(dtype), load<std::uint8_t>(element));
    case DType::int8:
      return load<std::int8_t>(element);
    case DType::int16:
      return load<std::int16_t>(element);
    case DType::int32:
      return load<std::int32_t>(element);
    case DType::int64:
      return static_cast<double>(load<std::int64_t>(element));
    case DType::uint8:
    case DType::boolean:
      return load<std::uint8_t>(element);
    case DType::uint16:
      return load<std::uint16_t>(element);
    case DType::uint32:
      return load<std::uint32_t>(element);
    case DType::uint64:
      return static_cast<double>(load<std::uint64_t>(element));
  }
  std::unreachable();
}

void store_from_double(DType dtype, double value, std::byte* element) {
  switch (dtype) {
    case DType::float64:
      return store(value, element);
    case DType::float32:
      return store(static_cast<float>(value), element);
    case DType::float16:
    case DType::bfloat16:
      return store(static_cast<std::uint16_t>(encode(small_format(dtype), value)), element);
    case DType::float8_e4m3:
    case DType::float8_e5m2:
      return store(static_cast<std::uint8_t>(encode(small_format(dtype), value)), element);
    case DType::int8:
      return store_saturated<std::int8_t>(value, element);
    case DType::int16:
      return store_saturated<std::int16_t>(value, element);
    case DType::int32:
      return store_saturated<std::int32_t>(value, element);
    case DType::int64:
      return store_saturated<std::int64_t>(value, element);
    case DType::uint8:
      return store_saturated<std::uint8_t>(value, element);
    case DType::uint16:
      return store_saturated<std::uint16_t>(value, element);
    case DType::uint32:
      return store_saturated<std::uint32_t>(value, element);
    case DType::uint64:
      return store_saturated<std::uint64_t>(value, element);
    case DType::boolean:
      return store(static_cast<std::uint8_t>(value != 0), element);
  }
  std::unreachable();
}

double ulp_distance(DType dtype, double a, double b) {
  const double x = rounded_to(dtype, a), y = rounded_to(dtype, b);
  if (std::isnan(x) && std::isnan(y)) return 0;
  if (x == y) return 0;
  if (!std::isfinite(x) || !std::isfinite(y)) return std::numeric_limits<double>::infinity();
  if (!is_floating(dtype)) return std::fabs(x - y);
  // Unsigned, because of opposite signs two ordinals of float64 can be further apart than 2^63.
  const std::int64_t low = std::min(ordinal(dtype, x), ordinal(dtype, y));
  const std::int64_t high = std::max(ordinal(dtype, x), ordinal(dtype, y));
  return static_cast<double>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
}

}  // namespace kagent
