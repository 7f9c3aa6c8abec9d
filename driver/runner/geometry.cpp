// SPDX-License-Identifier: Apache-2.0
#include "runner/geometry.h"

#include <array>
#include <limits>
#include <string_view>

#include <fmt/core.h>

namespace kagent::runner {

namespace {

using Lookup = Expression::Lookup;

// Evaluates one expression after another, and keeps what is the first to be beyond all devices.
class Evaluation {
 public:
  explicit Evaluation(const Lookup& lookup) : lookup_(lookup) {}

  Result<void> one(const std::string& what, const Expression& expression, std::uint32_t least, std::uint32_t& into) {
    const auto value = expression.evaluate(lookup_);
    if (!value)
      return failure("'" + expression.text() + "' of the launch: " + value.error().message, value.error().fix);
    if (*value >= least && *value <= std::numeric_limits<std::int32_t>::max())
      into = static_cast<std::uint32_t>(*value);
    else if (impossible.empty())
      impossible = fmt::format("asks for what no device has: {} is '{}', {}", what, expression.text(), *value);
    return {};
  }
  Result<void> axes(const std::string& what, const std::array<Expression, 3>& extents, std::uint32_t least,
                    std::uint32_t (&into)[3]) {
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
      if (auto done = one(fmt::format("{} {}", what, "xyz"[axis]), extents[axis], least, into[axis]); !done)
        return done;
    return {};
  }

  std::string impossible;

 private:
  const Lookup& lookup_;
};

}  // namespace

Result<std::expected<protocol::Geometry, std::string>> evaluate_geometry(const Launch& launch, const Sizes& sizes,
                                                                         const TunableValues& tunables) {
  const Lookup lookup = [&](std::string_view name) -> const std::int64_t* {
    if (const auto size = sizes.find(std::string(name)); size != sizes.end()) return &size->second;
    const auto tunable = tunables.find(std::string(name));
    return tunable == tunables.end() ? nullptr : &tunable->second;
  };
  protocol::Geometry geometry{};
  Evaluation evaluation(lookup);
  auto done = evaluation.axes("grid", launch.grid, 0, geometry.grid);  // an empty launch is left out
  if (done) done = evaluation.axes("block", launch.block, 1, geometry.block);
  if (done && launch.cluster) done = evaluation.axes("cluster", *launch.cluster, 1, geometry.cluster);
  if (done && launch.shared_memory)
    done = evaluation.one("shared memory", *launch.shared_memory, 0, geometry.shared_bytes);
  if (!done) return std::unexpected(done.error());
  if (!evaluation.impossible.empty())
    return std::expected<protocol::Geometry, std::string>(std::unexpect, evaluation.impossible);
  return geometry;
}

}  // namespace kagent::runner
