// SPDX-License-Identifier: Apache-2.0
#include "profiler/roofline.h"

#include <algorithm>
#include <string_view>

namespace kagent::profiler {
namespace {

Result<double> evaluate(const std::optional<Expression>& work, const Sizes& sizes) {
  if (!work) return 0.0;
  auto value = work->evaluate([&sizes](std::string_view name) -> const std::int64_t* {
    auto found = sizes.find(std::string(name));
    return found == sizes.end() ? nullptr : &found->second;
  });
  if (!value) return std::unexpected(value.error());
  return static_cast<double>(*value);
}

double arithmetic_roof(const KernelSpec& spec, double flops, double bytes, const Ceilings& ceilings) {
  const bool contracts =
      std::ranges::any_of(spec.tolerance, [](const auto& entry) { return entry.second.contraction; });
  const auto is_narrow = [](const Parameter& one) { return is_floating(one.dtype) && size_bytes(one.dtype) <= 2; };
  const auto is_wide = [&](const Parameter& one) {
    return one.is_buffer() && is_floating(one.dtype) && !is_narrow(one);
  };
  const bool narrow =
      std::ranges::any_of(spec.parameters, [&](const Parameter& one) { return one.is_read() && is_narrow(one); });
  const bool products = contracts || flops > kProductIntensity * bytes;
  if (narrow && products && ceilings.tensor_flops_per_s > 0) return ceilings.tensor_flops_per_s;
  const bool halves = narrow && std::ranges::none_of(spec.parameters, is_wide);
  return halves ? std::max(ceilings.half_flops_per_s, ceilings.flops_per_s) : ceilings.flops_per_s;
}

}  // namespace

Result<std::optional<RooflinePosition>> position(const KernelSpec& spec, const Sizes& sizes, double time_ns,
                                                 const Ceilings& ceilings) {
  auto flops = evaluate(spec.flops, sizes);
  if (!flops) return std::unexpected(flops.error());
  auto bytes = evaluate(spec.bytes, sizes);
  if (!bytes) return std::unexpected(bytes.error());
  if ((*flops <= 0 && *bytes <= 0) || time_ns <= 0) return std::nullopt;
  const double seconds = time_ns * 1e-9;
  const double roof = arithmetic_roof(spec, *flops, *bytes, ceilings);
  const double compute_time = roof > 0 ? *flops / roof : 0;
  const double memory_time = ceilings.bytes_per_s > 0 ? *bytes / ceilings.bytes_per_s : 0;
  RooflinePosition result;
  result.flops_per_s = *flops / seconds;
  result.bytes_per_s = *bytes / seconds;
  result.arithmetic_roof = roof;
  result.limit = compute_time > memory_time ? Limit::compute : Limit::memory;
  result.share = std::max(compute_time, memory_time) / seconds;
  return result;
}

}  // namespace kagent::profiler
