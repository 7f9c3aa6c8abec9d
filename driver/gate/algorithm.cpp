// SPDX-License-Identifier: Apache-2.0
#include "gate/algorithm.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace kagent::gate {

namespace {

constexpr std::string_view kRule = "; the spec's rules.allow_algorithm_change is false";

// Bits of the significand, the implicit one included.
struct NumberType {
  std::string_view name;
  int bits;
};
constexpr std::array kTypes = {NumberType{"float64", 53}, NumberType{"float32", 24}, NumberType{"tf32", 11},
                               NumberType{"float16", 11}, NumberType{"bfloat16", 8}, NumberType{"float8", 4}};

int bits_of(std::string_view type) {
  for (const NumberType& known : kTypes)
    if (known.name == type) return known.bits;
  return 0;
}

std::optional<int> bits_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 53;
    case DType::float32:
      return 24;
    case DType::float16:
      return 11;
    case DType::bfloat16:
      return 8;
    case DType::float8_e4m3:
    case DType::float8_e5m2:
      return 4;
    default:
      return std::nullopt;
  }
}

bool any(const std::vector<Structure>& known, auto&& predicate) {
  return std::ranges::any_of(known, predicate);
}

void inspect_maths(const Structure& candidate, const std::vector<Structure>& known, std::vector<Rejection>& found) {
  for (const std::string& family : candidate.maths)
    if (!any(known, [&](const Structure& one) { return one.maths.contains(family); }))
      found.push_back(
          {"algorithm-functions", 0,
           "it calls a function of a family that its parent does not use (" + family + ")" + std::string(kRule)});
  // A power or a root may be multiplied out; the others can only be approximated by hand.
  constexpr std::array<std::string_view, 5> kNeeded = {"exponential", "logarithm", "trigonometric", "error function",
                                                       "gamma function"};
  for (const std::string& family : known.front().maths)
    if (!candidate.maths.contains(family) && std::ranges::find(kNeeded, family) != kNeeded.end())
      found.push_back(
          {"algorithm-functions", 0,
           "its parent calls functions of a family that it does without (" + family + ")" + std::string(kRule)});
}

void inspect_precision(const Structure& candidate, const std::vector<Structure>& known, const KernelSpec& spec,
                       std::vector<Rejection>& found) {
  std::optional<int> fewest;
  const auto note = [&](int bits) { fewest = std::min(fewest.value_or(bits), bits); };
  for (const Structure& one : known)
    for (const std::string& type : one.types) note(bits_of(type));
  for (const Parameter& parameter : spec.parameters)
    if (parameter.kind != ParameterKind::stream)
      if (const auto bits = bits_of(parameter.dtype)) note(*bits);
  if (!fewest) return;
  for (const std::string& type : candidate.types)
    if (bits_of(type) < *fewest)
      found.push_back({"algorithm-precision", 0,
                       "it computes in " + type + ", which has fewer bits than any type of its parent or of the spec" +
                           std::string(kRule)});
}

}  // namespace

std::vector<Rejection> inspect_algorithm(const Structure& candidate, const std::vector<Structure>& known,
                                         const KernelSpec& spec) {
  std::vector<Rejection> found;
  inspect_maths(candidate, known, found);
  inspect_precision(candidate, known, spec, found);
  if (candidate.recursive && !any(known, [](const Structure& one) { return one.recursive; }))
    found.push_back({"algorithm-recursion", 0, "a function calls itself" + std::string(kRule)});
  if (candidate.atomics > 0 && !spec.rules.allow_nondeterminism &&
      !any(known, [](const Structure& one) { return one.atomics > 0; }))
    found.push_back({"algorithm-atomics", 0,
                     "it uses atomic operations, so that the order of its sums may differ from run to run" +
                         std::string(kRule) + ", and so is rules.allow_nondeterminism"});
  for (const std::string& call : candidate.library_calls)
    if (!any(known, [&](const Structure& one) { return one.library_calls.contains(call); }))
      found.push_back(
          {"algorithm-library", 0,
           "it sorts, keeps containers or allocates where its parent does not ('" + call + "')" + std::string(kRule)});
  const bool sized =
      std::ranges::any_of(spec.parameters, [](const Parameter& one) { return one.kind == ParameterKind::size; });
  const bool host = known.back().kernels == 0 && candidate.kernels == 0;
  if (host && sized && candidate.loop_depth == 0 && known.front().loop_depth > 0)
    found.push_back(
        {"algorithm-loops", 0, "it has no loop left, but its work grows with its sizes" + std::string(kRule)});
  return found;
}

}  // namespace kagent::gate
