// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "verifier/elements.h"
#include "verifier/message.h"

namespace kagent::verifier {
namespace {

constexpr std::int64_t kBlock = 1024;
using Block = std::array<double, kBlock>;

template <class T>
void load_typed(const std::byte* source, std::span<double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, source + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
}

// A power of two that brings the tensor's finite values near 1, so that their squares neither overflow nor vanish.
double norm_scale(const Tensor& expected) {
  double largest = 0;
  Block values;
  const std::int64_t count = expected.element_count();
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const std::span<double> block(values.data(), static_cast<std::size_t>(std::min(kBlock, count - begin)));
    load_block(expected, begin, block);
    for (const double value : block)
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  if (largest == 0) return 1;
  // Clamped so that the scale itself and its inverse are finite.
  return std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1000, 1000));
}

// What the element is compared as.
enum class Kind { number, match, mismatch };

// An expected value at or beyond the type's range may come out as the type's overflow (infinity; NaN in e4m3).
Kind classify(DType dtype, double got, double expected, double bound) {
  if (std::isnan(expected)) return std::isnan(got) ? Kind::match : Kind::mismatch;
  if (std::isinf(expected)) {
    if (got == expected) return Kind::match;
    return dtype == DType::float8_e4m3 && std::isnan(got) ? Kind::match : Kind::mismatch;
  }
  if (std::isfinite(got)) return Kind::number;
  const bool may_overflow = std::abs(expected) + bound > largest_finite(dtype);
  const bool overflowed =
      dtype == DType::float8_e4m3 ? std::isnan(got) : std::isinf(got) && std::signbit(got) == std::signbit(expected);
  return may_overflow && overflowed ? Kind::match : Kind::mismatch;
}

struct Worst {
  std::int64_t index = -1;
  double ratio = -1;
  double got = 0, expected = 0;
  bool class_differs = false;
};

struct Sums {
  double error = 0, expected = 0, magnitude = 0, noise = 0, signed_error = 0;
};

double over_bound(double error, double bound) {
  if (error == 0) return 0;
  return bound > 0 ? error / bound : std::numeric_limits<double>::infinity();
}

}  // namespace

void load_block(const Tensor& tensor, std::int64_t begin, std::span<double> values) {
  const std::byte* source = tensor.bytes.data() + static_cast<std::size_t>(begin) * size_bytes(tensor.dtype);
  if (tensor.dtype == DType::float32) return load_typed<float>(source, values);
  if (tensor.dtype == DType::float64) return load_typed<double>(source, values);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = load_as_double(tensor.dtype, source + i * size_bytes(tensor.dtype));
}

double root_mean_square(const Tensor& tensor) {
  const double scale = norm_scale(tensor);
  double sum = 0;
  std::int64_t finite = 0;
  Block values;
  const std::int64_t count = tensor.element_count();
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const std::span<double> block(values.data(), static_cast<std::size_t>(std::min(kBlock, count - begin)));
    load_block(tensor, begin, block);
    for (const double value : block) {
      if (!std::isfinite(value)) continue;
      sum += value * scale * value * scale;
      ++finite;
    }
  }
  return finite > 0 ? std::sqrt(sum / static_cast<double>(finite)) / scale : 0;
}

Measured measure_floating(const Parameter& parameter, const Tensor& got, const Tensor& expected,
                          const Tensor* magnitude, double magnitude_floor, const Bounds& bounds) {
  Measured measured;
  measured.error.parameter = parameter.name;
  measured.elements = got.element_count();
  const double scale = norm_scale(expected);
  Sums sums;
  Worst worst;
  Block got_values, expected_values, magnitudes;
  for (std::int64_t begin = 0; begin < measured.elements; begin += kBlock) {
    const auto count = static_cast<std::size_t>(std::min(kBlock, measured.elements - begin));
    load_block(got, begin, std::span(got_values.data(), count));
    load_block(expected, begin, std::span(expected_values.data(), count));
    if (magnitude) load_block(*magnitude, begin, std::span(magnitudes.data(), count));
    for (std::size_t i = 0; i < count; ++i) {
      const double g = got_values[i], e = expected_values[i];
      const double raw = magnitude ? std::abs(magnitudes[i]) : std::max(std::abs(e), magnitude_floor);
      const double m = std::isfinite(raw) ? raw : std::abs(e);
      const double bound = bounds.element(e, m);
      const Kind kind = classify(parameter.dtype, g, e, bound);
      double ratio = 0;
      if (kind == Kind::number) {
        const double error = g - e, noise = bounds.noise(e, m);
        ratio = over_bound(std::abs(error), bound);
        ++measured.finite;
        measured.error.max_abs_error = std::max(measured.error.max_abs_error, std::abs(error));
        measured.largest_expected = std::max(measured.largest_expected, std::abs(e));
        measured.largest_magnitude = std::max(measured.largest_magnitude, m);
        measured.largest_noise = std::max(measured.largest_noise, noise);
        const double s_error = error * scale, s_e = e * scale, s_m = m * scale, s_noise = noise * scale;
        sums.error += s_error * s_error;
        sums.expected += s_e * s_e;
        sums.magnitude += s_m * s_m;
        sums.noise += s_noise * s_noise;
        sums.signed_error += s_error;
      } else if (kind == Kind::mismatch) {
        ratio = std::numeric_limits<double>::infinity();
      }
      if (ratio > 1) ++measured.error.failing_elements;
      if (ratio > worst.ratio) worst = {begin + static_cast<std::int64_t>(i), ratio, g, e, kind == Kind::mismatch};
    }
  }
  measured.error.relative_norm_error = over_bound(std::sqrt(sums.error), std::sqrt(sums.expected));
  if (measured.finite > 0) {
    const auto count = static_cast<double>(measured.finite);
    measured.error_rms = std::sqrt(sums.error / count) / scale;
    measured.expected_rms = std::sqrt(sums.expected / count) / scale;
    measured.magnitude_rms = std::sqrt(sums.magnitude / count) / scale;
    measured.noise_rms = std::sqrt(sums.noise / count) / scale;
    measured.error.mean_signed_error = sums.signed_error / count / scale;
  }
  if (worst.index >= 0) {
    measured.error.worst_index = unflatten(got, worst.index);
    measured.error.got = worst.got;
    measured.error.expected = worst.expected;
    measured.error.error_over_bound = worst.ratio;
    measured.error.error_ulp = worst.class_differs ? std::numeric_limits<double>::infinity()
                                                   : ulp_distance(parameter.dtype, worst.got, worst.expected);
    measured.class_differs = worst.class_differs;
    std::tie(measured.got_text, measured.expected_text) = distinct_texts(parameter.dtype, worst.got, worst.expected);
  }
  return measured;
}

}  // namespace kagent::verifier
