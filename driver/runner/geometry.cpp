// SPDX-License-Identifier: Apache-2.0
#include "runner/geometry.h"

#include <array>
#include <limits>

namespace kagent::runner {

namespace {

using Lookup = Expression::Lookup;

// Whether it fits is told by the second; the first is an error of the expression.
Result<bool> evaluate(const Expression& expression, const Lookup& lookup, std::uint32_t least, std::uint32_t& into) {
  const auto value = expression.evaluate(lookup);
  if (!value) return failure("'" + expression.text() + "' of the launch: " + value.error().message, value.error().fix);
  if (*value < least || *value > std::numeric_limits<std::int32_t>::max()) return false;
  into = static_cast<std::uint32_t>(*value);
  return true;
}

Result<bool> evaluate(const std::array<Expression, 3>& extents, const Lookup& lookup, std::uint32_t least,
                      std::uint32_t (&into)[3]) {
  bool fits = true;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const auto one = evaluate(extents[axis], lookup, least, into[axis]);
    if (!one) return one;
    fits = fits && *one;
  }
  return fits;
}

}  // namespace

Result<std::optional<protocol::Geometry>> evaluate_geometry(const Launch& launch, const Sizes& sizes,
                                                            const TunableValues& tunables) {
  const Lookup lookup = [&](std::string_view name) -> const std::int64_t* {
    if (const auto size = sizes.find(std::string(name)); size != sizes.end()) return &size->second;
    const auto tunable = tunables.find(std::string(name));
    return tunable == tunables.end() ? nullptr : &tunable->second;
  };
  protocol::Geometry geometry{};
  bool fits = true;
  const auto note = [&fits](const Result<bool>& one) {
    if (one) fits = fits && *one;
    return one.has_value();
  };
  auto step = evaluate(launch.grid, lookup, 0, geometry.grid);  // an empty launch is left out
  if (!note(step)) return std::unexpected(step.error());
  step = evaluate(launch.block, lookup, 1, geometry.block);
  if (!note(step)) return std::unexpected(step.error());
  if (launch.cluster) {
    step = evaluate(*launch.cluster, lookup, 1, geometry.cluster);
    if (!note(step)) return std::unexpected(step.error());
  }
  if (launch.shared_memory) {
    step = evaluate(*launch.shared_memory, lookup, 0, geometry.shared_bytes);
    if (!note(step)) return std::unexpected(step.error());
  }
  if (!fits) return std::nullopt;
  return geometry;
}

}  // namespace kagent::runner
