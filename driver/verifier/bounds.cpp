// SPDX-License-Identifier: Apache-2.0
#include "verifier/bounds.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kagent::verifier {
namespace {

// Limits of the norm that a sound implementation keeps with room to spare, and one of the next lower precision does
// not: fp32 over bf16 and tf32 inputs by 50 and more. fp64 is held against an fp64 reference, which errs as much
// itself.
double norm_default(DType dtype, double length) {
  const double growth = std::sqrt(std::max(length, 1024.0) / 1024.0);
  switch (dtype) {
    case DType::float64:
      return 1e-12 * growth;
    case DType::float32:
      return 1e-5 * growth;
    case DType::float16:
      return 2e-3;
    case DType::bfloat16:
      return 1e-2;
    case DType::float8_e4m3:
    case DType::float8_e5m2:
      return 2.5 * unit_roundoff(dtype);
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
    case DType::boolean:
      return 0;
  }
  std::unreachable();
}

// A spec that asks for no more than these did not choose its tolerance, and the norm keeps its default.
double rtol_default(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 1e-7;
    case DType::float32:
      return 1.3e-6;
    case DType::float16:
      return 1e-3;
    case DType::bfloat16:
      return 1.6e-2;
    case DType::float8_e4m3:
    case DType::float8_e5m2:
      return 2 * unit_roundoff(dtype);
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
    case DType::boolean:
      return 0;
  }
  std::unreachable();
}

double smallest_normal(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 0x1p-1022;
    case DType::float32:
    case DType::bfloat16:
      return 0x1p-126;
    case DType::float16:
    case DType::float8_e5m2:
      return 0x1p-14;
    case DType::float8_e4m3:
      return 0x1p-6;
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
    case DType::boolean:
      return 0;
  }
  std::unreachable();
}

}  // namespace

double Bounds::element(double expected, double magnitude) const {
  return atol + rtol * std::abs(expected) + reduction * magnitude;
}

double Bounds::noise(double expected, double magnitude) const {
  return noise_rtol * std::abs(expected) + reduction * magnitude;
}

double reduction_length(const KernelSpec& spec, const Parameter& parameter, const Sizes& sizes) {
  const auto found = spec.tolerance.find(parameter.name);
  if (found == spec.tolerance.end() || !found->second.reduction_length) return 0;
  const auto length = found->second.reduction_length->evaluate([&sizes](std::string_view name) -> const std::int64_t* {
    const auto size = sizes.find(std::string(name));
    return size == sizes.end() ? nullptr : &size->second;
  });
  return length && *length > 0 ? static_cast<double>(*length) : 0;
}

Bounds bounds_of(const KernelSpec& spec, const Parameter& parameter, const Sizes& sizes) {
  Bounds bounds;
  const double length = reduction_length(spec, parameter, sizes);
  bounds.norm = norm_default(parameter.dtype, length);
  if (const auto found = spec.tolerance.find(parameter.name); found != spec.tolerance.end()) {
    bounds.atol = found->second.atol;
    bounds.rtol = found->second.rtol;
    if (bounds.rtol > rtol_default(parameter.dtype)) bounds.norm = std::max(bounds.norm, bounds.rtol);
  }
  bounds.noise_rtol = std::min(bounds.rtol, rtol_default(parameter.dtype));
  bounds.reduction = 4 * unit_roundoff(parameter.dtype) * std::sqrt(length);
  return bounds;
}

Bounds doubled(const Bounds& bounds) {
  return {2 * bounds.atol, 2 * bounds.rtol, 2 * bounds.reduction, 2 * bounds.norm, 2 * bounds.noise_rtol};
}

double spacing(DType dtype, double value) {
  return 2 * unit_roundoff(dtype) * std::max(std::abs(value), smallest_normal(dtype));
}

}  // namespace kagent::verifier
