// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "verifier/elements.h"
#include "verifier/message.h"
#include "verifier/surroundings.h"
#include "verifier/verifier.h"

namespace kagent::verifier {
namespace {

bool is_poison(const std::byte* element, std::size_t width, std::uint8_t poison) {
  return std::all_of(element, element + width,
                     [poison](std::byte value) { return std::to_integer<std::uint8_t>(value) == poison; });
}

Differences unwritten(const Tensor& first, std::uint8_t first_poison, const Tensor& second,
                      std::uint8_t second_poison) {
  Differences found;
  const std::size_t width = size_bytes(first.dtype);
  const std::int64_t count = first.element_count();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t offset = static_cast<std::size_t>(i) * width;
    if (!is_poison(first.bytes.data() + offset, width, first_poison) ||
        !is_poison(second.bytes.data() + offset, width, second_poison))
      continue;
    if (found.count++ == 0) found.first = i;
  }
  return found;
}

}  // namespace

Verdict check_written(const KernelSpec& spec, const CallInputs& inputs, const std::vector<BufferImage>& first,
                      std::uint8_t first_poison, const std::vector<BufferImage>& second, std::uint8_t second_poison) {
  for (const Parameter& parameter : spec.parameters) {
    // An inout buffer holds its input before the call, not poison.
    if (parameter.kind != ParameterKind::output) continue;
    const BufferImage* a = find_image(first, parameter.name);
    const BufferImage* b = find_image(second, parameter.name);
    if (!a || !b) return fail(Outcome::wrong_result, inputs, "buffer " + parameter.name + " was not read back");
    if (const auto problem = layout_problem(b->contents, a->contents))
      return fail(Outcome::wrong_result, inputs, "output " + parameter.name + ": " + *problem);
    const Differences missing = unwritten(a->contents, first_poison, b->contents, second_poison);
    if (missing.count == 0) continue;
    return fail(Outcome::wrong_result, inputs,
                fmt::format("{} was not written; {} of {} elements were not",
                            element_name(parameter.name, unflatten(a->contents, missing.first)), missing.count,
                            a->contents.element_count()));
  }
  return {Outcome::ok, inputs.label, {}, {}};
}

}  // namespace kagent::verifier
