// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "spec/spec.h"

namespace kagent::spec {

Result<std::int64_t> evaluate(const Expression& expression, const Sizes& sizes) {
  return expression.evaluate([&sizes](std::string_view name) -> const std::int64_t* {
    const auto found = sizes.find(std::string(name));
    return found == sizes.end() ? nullptr : &found->second;
  });
}

Result<std::vector<std::int64_t>> extents(const Parameter& parameter, const Sizes& sizes) {
  std::vector<std::int64_t> shape;
  auto bytes = static_cast<std::int64_t>(size_bytes(parameter.dtype));
  bool overflow = false;
  for (const Expression& expression : parameter.shape) {
    const Result<std::int64_t> extent = evaluate(expression, sizes);
    if (!extent) return failure("shape of '" + parameter.name + "': " + extent.error().message, extent.error().fix);
    if (*extent < 0)
      return failure("shape of '" + parameter.name + "': '" + expression.text() + "' is " + std::to_string(*extent),
                     "an extent is 0 or more: change the expression, or exclude such sizes with \"requires\"");
    // A zero extent counts as 1 here, so that the others can be multiplied in any order later.
    overflow = overflow || __builtin_mul_overflow(bytes, std::max<std::int64_t>(*extent, 1), &bytes);
    shape.push_back(*extent);
  }
  if (overflow)
    return failure("'" + parameter.name + "' would have more bytes than 64 bits can count", "use smaller sizes");
  return shape;
}

}  // namespace kagent::spec
