// SPDX-License-Identifier: Apache-2.0
#include "values/dtype.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace kagent {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const std::vector<DType> kAll{DType::float64,     DType::float32, DType::float16, DType::bfloat16, DType::float8_e4m3,
                              DType::float8_e5m2, DType::int8,    DType::int16,   DType::int32,    DType::int64,
                              DType::uint8,       DType::uint16,  DType::uint32,  DType::uint64,   DType::boolean};

std::uint32_t stored(DType dtype, double value) {
  std::array<std::byte, 8> bytes{};
  store_from_double(dtype, value, bytes.data());
  std::uint32_t code = 0;
  std::memcpy(&code, bytes.data(), sizeof code);
  return code;
}

double loaded(DType dtype, std::uint32_t code) {
  std::array<std::byte, 8> bytes{};
  std::memcpy(bytes.data(), &code, sizeof code);
  return load_as_double(dtype, bytes.data());
}

double stored_and_loaded(DType dtype, double value) {
  std::array<std::byte, 8> bytes{};
  store_from_double(dtype, value, bytes.data());
  return load_as_double(dtype, bytes.data());
}

TEST(DType, NamesParseBackToTheSameType) {
  for (DType dtype : kAll) EXPECT_EQ(parse_dtype(name(dtype)), dtype) << name(dtype);
  EXPECT_EQ(parse_dtype("float"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
  EXPECT_EQ(name(DType::boolean), "bool");
}

TEST(DType, SizesAreThoseOfTheirNames) {
  EXPECT_EQ(size_bytes(DType::float64), 8U);
  EXPECT_EQ(size_bytes(DType::bfloat16), 2U);
  EXPECT_EQ(size_bytes(DType::float8_e4m3), 1U);
  EXPECT_EQ(size_bytes(DType::boolean), 1U);
}

TEST(DType, UnitRoundoffIsHalfTheGapAboveOne) {
  for (DType dtype : {DType::float16, DType::bfloat16, DType::float8_e4m3, DType::float8_e5m2}) {
    const double gap = loaded(dtype, stored(dtype, 1.0) + 1) - 1.0;
    EXPECT_EQ(unit_roundoff(dtype), gap / 2) << name(dtype);
  }
  EXPECT_EQ(unit_roundoff(DType::float32), std::numeric_limits<float>::epsilon() / 2);
  EXPECT_EQ(unit_roundoff(DType::float64), std::numeric_limits<double>::epsilon() / 2);
}

// The formats from their published definitions: sign, exponent and fraction of every code.
struct Format {
  DType dtype;
  int bits, fraction_bits, bias;
  bool has_infinity;
};

class SmallFloats : public ::testing::TestWithParam<Format> {
 protected:
  std::uint32_t last_finite() const {
    const Format& f = GetParam();
    const std::uint32_t end = 1U << (f.bits - 1);
    return f.has_infinity ? end - (1U << f.fraction_bits) - 1 : end - 2;
  }
};

TEST_P(SmallFloats, EveryFiniteCodeHasTheValueOfItsDefinition) {
  const Format& f = GetParam();
  for (std::uint32_t code = 0; code <= last_finite(); ++code) {
    const int exponent = static_cast<int>(code >> f.fraction_bits);
    const int fraction = static_cast<int>(code & ((1U << f.fraction_bits) - 1));
    const double value = exponent == 0
                             ? std::ldexp(fraction, 1 - f.bias - f.fraction_bits)
                             : std::ldexp((1 << f.fraction_bits) + fraction, exponent - f.bias - f.fraction_bits);
    ASSERT_EQ(loaded(f.dtype, code), value) << code;
    ASSERT_EQ(loaded(f.dtype, code | 1U << (f.bits - 1)), -value) << code;
  }
}

TEST_P(SmallFloats, EveryCodeRoundTrips) {
  const Format& f = GetParam();
  for (std::uint32_t code = 0; code < 1U << f.bits; ++code) {
    const double value = loaded(f.dtype, code);
    if (std::isnan(value))
      ASSERT_TRUE(std::isnan(stored_and_loaded(f.dtype, value))) << code;
    else
      ASSERT_EQ(stored(f.dtype, value), code);
  }
}

// With monotonic rounding, the middle between two neighbours and the doubles beside it decide every other value.
TEST_P(SmallFloats, TheMiddleOfTwoNeighboursGoesToTheEvenOneAndEverythingElseToTheNearer) {
  const Format& f = GetParam();
  const std::uint32_t sign = 1U << (f.bits - 1);
  for (std::uint32_t code = 0; code < last_finite(); ++code) {
    const double middle = (loaded(f.dtype, code) + loaded(f.dtype, code + 1)) / 2;
    ASSERT_EQ(stored(f.dtype, middle), code % 2 == 0 ? code : code + 1);
    ASSERT_EQ(stored(f.dtype, std::nextafter(middle, 0)), code);
    ASSERT_EQ(stored(f.dtype, std::nextafter(middle, kInfinity)), code + 1);
    ASSERT_EQ(stored(f.dtype, -std::nextafter(middle, kInfinity)), (code + 1) | sign);
  }
}

TEST_P(SmallFloats, OverflowBeginsHalfAStepAboveTheLargestFiniteValue) {
  const Format& f = GetParam();
  const double largest = loaded(f.dtype, last_finite());
  EXPECT_EQ(largest_finite(f.dtype), largest);
  const double step = largest - loaded(f.dtype, last_finite() - 1);
  const double middle = largest + step / 2;
  EXPECT_EQ(stored_and_loaded(f.dtype, std::nextafter(middle, 0)), largest);
  // The last code of the formats with infinity is odd, that of e4m3 is even.
  if (f.has_infinity) {
    EXPECT_EQ(stored_and_loaded(f.dtype, middle), kInfinity);
    EXPECT_EQ(stored_and_loaded(f.dtype, -kInfinity), -kInfinity);
    EXPECT_EQ(stored_and_loaded(f.dtype, 1e300), kInfinity);
  } else {
    EXPECT_EQ(stored_and_loaded(f.dtype, middle), largest);
    EXPECT_TRUE(std::isnan(stored_and_loaded(f.dtype, std::nextafter(middle, kInfinity))));
    EXPECT_TRUE(std::isnan(stored_and_loaded(f.dtype, -kInfinity)));
    EXPECT_TRUE(std::isnan(stored_and_loaded(f.dtype, 1e300)));
  }
}

TEST_P(SmallFloats, TinyValuesBecomeZeroOfTheSameSign) {
  const DType dtype = GetParam().dtype;
  for (double tiny : {0.0, 1e-300, std::numeric_limits<double>::denorm_min()}) {
    EXPECT_EQ(stored(dtype, tiny), 0U);
    EXPECT_TRUE(std::signbit(stored_and_loaded(dtype, -tiny)));
  }
}

TEST_P(SmallFloats, UlpDistanceCountsCodesAcrossZero) {
  const Format& f = GetParam();
  for (std::uint32_t code = 0; code < last_finite(); ++code)
    ASSERT_EQ(ulp_distance(f.dtype, loaded(f.dtype, code), loaded(f.dtype, code + 1)), 1);
  EXPECT_EQ(ulp_distance(f.dtype, loaded(f.dtype, 3), -loaded(f.dtype, 2)), 5);
}

INSTANTIATE_TEST_SUITE_P(Formats, SmallFloats,
                         ::testing::Values(Format{DType::float16, 16, 10, 15, true},
                                           Format{DType::bfloat16, 16, 7, 127, true},
                                           Format{DType::float8_e4m3, 8, 3, 7, false},
                                           Format{DType::float8_e5m2, 8, 2, 15, true}),
                         [](const auto& format) { return std::string(name(format.param.dtype)); });

TEST(DType, WellKnownCodes) {
  EXPECT_EQ(stored(DType::float16, 1.0), 0x3C00U);
  EXPECT_EQ(stored(DType::float16, 65504.0), 0x7BFFU);
  EXPECT_EQ(stored(DType::bfloat16, 3.140625), 0x4049U);
  EXPECT_EQ(stored(DType::float8_e4m3, 448.0), 0x7EU);
  EXPECT_EQ(stored(DType::float8_e4m3, kNaN) & 0x7FU, 0x7FU);
  EXPECT_EQ(stored(DType::float8_e5m2, 57344.0), 0x7BU);
  EXPECT_EQ(stored(DType::float8_e5m2, kInfinity), 0x7CU);
}

TEST(DType, IntegersRoundToNearestEvenAndSaturate) {
  EXPECT_EQ(stored_and_loaded(DType::int8, 2.5), 2);
  EXPECT_EQ(stored_and_loaded(DType::int8, 3.5), 4);
  EXPECT_EQ(stored_and_loaded(DType::int8, -129), -128);
  EXPECT_EQ(stored_and_loaded(DType::int8, 127.5), 127);
  EXPECT_EQ(stored_and_loaded(DType::uint8, -0.4), 0);
  EXPECT_EQ(stored_and_loaded(DType::uint8, 1e9), 255);
  EXPECT_EQ(stored_and_loaded(DType::uint32, kInfinity), 4294967295.0);
  EXPECT_EQ(stored_and_loaded(DType::int32, kNaN), 0);
}

TEST(DType, SixtyFourBitIntegersSaturateToTheirExactLimits) {
  std::int64_t value = 0;
  store_from_double(DType::int64, 9.3e18, reinterpret_cast<std::byte*>(&value));
  EXPECT_EQ(value, std::numeric_limits<std::int64_t>::max());
  store_from_double(DType::int64, -kInfinity, reinterpret_cast<std::byte*>(&value));
  EXPECT_EQ(value, std::numeric_limits<std::int64_t>::min());
  store_from_double(DType::int64, 0x1.FFFFFFFFFFFFFp62, reinterpret_cast<std::byte*>(&value));
  EXPECT_EQ(value, 9223372036854774784);
  std::uint64_t large = 0;
  store_from_double(DType::uint64, 1e30, reinterpret_cast<std::byte*>(&large));
  EXPECT_EQ(large, std::numeric_limits<std::uint64_t>::max());
}

TEST(DType, BoolIsOneForEverythingButZero) {
  EXPECT_EQ(stored(DType::boolean, 0.25), 1U);
  EXPECT_EQ(stored(DType::boolean, -0.0), 0U);
}

TEST(DType, UlpDistanceOfSpecialValues) {
  for (DType dtype : {DType::float64, DType::float32, DType::float16}) {
    EXPECT_EQ(ulp_distance(dtype, kNaN, kNaN), 0);
    EXPECT_EQ(ulp_distance(dtype, 0.0, -0.0), 0);
    EXPECT_EQ(ulp_distance(dtype, kInfinity, kInfinity), 0);
    EXPECT_EQ(ulp_distance(dtype, kInfinity, 1.0), kInfinity);
    EXPECT_EQ(ulp_distance(dtype, kNaN, 1.0), kInfinity);
  }
  EXPECT_EQ(ulp_distance(DType::float32, 1.0, 1.0 + 0x1p-23), 1);
  EXPECT_EQ(ulp_distance(DType::float64, 1.0, std::nextafter(1.0, 2.0)), 1);
  EXPECT_EQ(ulp_distance(DType::float64, -std::numeric_limits<double>::max(), std::numeric_limits<double>::max()),
            2.0 * static_cast<double>(0x7FEFFFFFFFFFFFFF));
  EXPECT_EQ(ulp_distance(DType::int32, -5, 7), 12);
}

}  // namespace
}  // namespace kagent
