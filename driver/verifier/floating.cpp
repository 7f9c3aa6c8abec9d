// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "util/parallel.h"
#include "verifier/elements.h"
#include "verifier/message.h"

namespace kagent::verifier {
namespace {

constexpr std::int64_t kBlock = 1024;
static_assert(util::kElementsAChunk % kBlock == 0);
using Block = std::array<double, kBlock>;

template <class T>
void load_typed(const std::byte* source, std::span<double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, source + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
}

// The pieces of a tensor, looked at side by side and taken together in their order.
template <class Piece, class Look>
Piece in_pieces(std::int64_t count, Look look) {
  std::vector<Piece> pieces(static_cast<std::size_t>(util::chunk_count(count, util::kElementsAChunk)));
  util::parallel_chunks(count, util::kElementsAChunk, [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
    pieces[static_cast<std::size_t>(chunk)] = look(begin, end);
  });
  Piece all;
  for (const Piece& piece : pieces) all.add(piece);
  return all;
}

// A power of two that brings the tensor's finite values near 1, so that their squares neither overflow nor vanish.
double norm_scale(const Tensor& expected) {
  struct Largest {
    double value = 0;
    void add(const Largest& next) { value = std::max(value, next.value); }
  };
  const double largest =
      in_pieces<Largest>(expected.element_count(), [&](std::int64_t first, std::int64_t last) {
        Largest piece;
        Block values;
        for (std::int64_t begin = first; begin < last; begin += kBlock) {
          const std::span<double> block(values.data(), static_cast<std::size_t>(std::min(kBlock, last - begin)));
          load_block(expected, begin, block);
          for (const double value : block)
            if (std::isfinite(value)) piece.value = std::max(piece.value, std::abs(value));
        }
        return piece;
      }).value;
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

// What was seen of one piece of a tensor.
struct Seen {
  Sums sums;
  Worst worst;
  std::int64_t finite = 0, failing = 0;
  double max_abs_error = 0, largest_expected = 0, largest_magnitude = 0, largest_noise = 0;

  void add(const Seen& next) {
    sums.error += next.sums.error;
    sums.expected += next.sums.expected;
    sums.magnitude += next.sums.magnitude;
    sums.noise += next.sums.noise;
    sums.signed_error += next.sums.signed_error;
    if (next.worst.ratio > worst.ratio) worst = next.worst;
    finite += next.finite;
    failing += next.failing;
    max_abs_error = std::max(max_abs_error, next.max_abs_error);
    largest_expected = std::max(largest_expected, next.largest_expected);
    largest_magnitude = std::max(largest_magnitude, next.largest_magnitude);
    largest_noise = std::max(largest_noise, next.largest_noise);
  }
};

double over_bound(double error, double bound) {
  if (error == 0) return 0;
  return bound > 0 ? error / bound : std::numeric_limits<double>::infinity();
}

// One output, what is expected of it, and how near it has to be.
struct Comparison {
  DType dtype;
  const Tensor &got, &expected;
  const Tensor* magnitude;
  double magnitude_floor;
  const Bounds& bounds;
  double scale;  // of the sums
};

Seen look_at(const Comparison& compared, std::int64_t first, std::int64_t last) {
  Seen seen;
  Block got, expected, magnitudes;
  for (std::int64_t begin = first; begin < last; begin += kBlock) {
    const auto count = static_cast<std::size_t>(std::min(kBlock, last - begin));
    load_block(compared.got, begin, std::span(got.data(), count));
    load_block(compared.expected, begin, std::span(expected.data(), count));
    if (compared.magnitude) load_block(*compared.magnitude, begin, std::span(magnitudes.data(), count));
    for (std::size_t i = 0; i < count; ++i) {
      const double g = got[i], e = expected[i];
      const double raw = compared.magnitude ? std::abs(magnitudes[i]) : std::max(std::abs(e), compared.magnitude_floor);
      const double m = std::isfinite(raw) ? raw : std::abs(e);
      const double bound = compared.bounds.element(e, m);
      const Kind kind = classify(compared.dtype, g, e, bound);
      double ratio = 0;
      if (kind == Kind::number) {
        const double error = g - e, noise = compared.bounds.noise(e, m);
        ratio = over_bound(std::abs(error), bound);
        ++seen.finite;
        seen.max_abs_error = std::max(seen.max_abs_error, std::abs(error));
        seen.largest_expected = std::max(seen.largest_expected, std::abs(e));
        seen.largest_magnitude = std::max(seen.largest_magnitude, m);
        seen.largest_noise = std::max(seen.largest_noise, noise);
        const double s_error = error * compared.scale, s_e = e * compared.scale, s_m = m * compared.scale,
                     s_noise = noise * compared.scale;
        seen.sums.error += s_error * s_error;
        seen.sums.expected += s_e * s_e;
        seen.sums.magnitude += s_m * s_m;
        seen.sums.noise += s_noise * s_noise;
        seen.sums.signed_error += s_error;
      } else if (kind == Kind::mismatch) {
        ratio = std::numeric_limits<double>::infinity();
      }
      if (ratio > 1) ++seen.failing;
      if (ratio > seen.worst.ratio)
        seen.worst = {begin + static_cast<std::int64_t>(i), ratio, g, e, kind == Kind::mismatch};
    }
  }
  return seen;
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
  struct Squares {
    double sum = 0;
    std::int64_t finite = 0;
    void add(const Squares& next) {
      sum += next.sum;
      finite += next.finite;
    }
  };
  const double scale = norm_scale(tensor);
  const Squares all = in_pieces<Squares>(tensor.element_count(), [&](std::int64_t first, std::int64_t last) {
    Squares piece;
    Block values;
    for (std::int64_t begin = first; begin < last; begin += kBlock) {
      const std::span<double> block(values.data(), static_cast<std::size_t>(std::min(kBlock, last - begin)));
      load_block(tensor, begin, block);
      for (const double value : block) {
        if (!std::isfinite(value)) continue;
        piece.sum += value * scale * value * scale;
        ++piece.finite;
      }
    }
    return piece;
  });
  return all.finite > 0 ? std::sqrt(all.sum / static_cast<double>(all.finite)) / scale : 0;
}

Measured measure_floating(const Parameter& parameter, const Tensor& got, const Tensor& expected,
                          const Tensor* magnitude, double magnitude_floor, const Bounds& bounds) {
  Measured measured;
  measured.error.parameter = parameter.name;
  measured.elements = got.element_count();
  const Comparison compared{parameter.dtype, got, expected, magnitude, magnitude_floor, bounds, norm_scale(expected)};
  const Seen seen = in_pieces<Seen>(
      measured.elements, [&](std::int64_t first, std::int64_t last) { return look_at(compared, first, last); });
  const Sums& sums = seen.sums;
  const Worst& worst = seen.worst;
  const double scale = compared.scale;
  measured.finite = seen.finite;
  measured.error.failing_elements = seen.failing;
  measured.error.max_abs_error = seen.max_abs_error;
  measured.largest_expected = seen.largest_expected;
  measured.largest_magnitude = seen.largest_magnitude;
  measured.largest_noise = seen.largest_noise;
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
