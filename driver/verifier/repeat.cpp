// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "verifier/elements.h"
#include "verifier/message.h"
#include "verifier/surroundings.h"
#include "verifier/verifier.h"

namespace kagent::verifier {

Verdict check_repeat(const KernelSpec& spec, const CallInputs& inputs, const std::vector<BufferImage>& first,
                     const std::vector<BufferImage>& again) {
  if (const auto problem = surroundings_problem(spec, inputs, first))
    return fail(Outcome::wrong_result, inputs, *problem);
  if (const auto problem = surroundings_problem(spec, inputs, again))
    return fail(Outcome::wrong_result, inputs, *problem);
  for (const Parameter& parameter : spec.parameters) {
    if (!parameter.is_written()) continue;
    const Tensor& before = find_image(first, parameter.name)->contents;
    const Tensor& after = find_image(again, parameter.name)->contents;
    if (const auto problem = layout_problem(after, before))
      return fail(Outcome::wrong_result, inputs, "output " + parameter.name + ": " + *problem);
    if (spec.rules.allow_nondeterminism) continue;
    const Differences differences = bit_differences(before, after);
    if (differences.count == 0) continue;
    return fail(Outcome::unstable, inputs,
                fmt::format("two runs on the same inputs differ: {} was {}, then {}; {} of {} elements differ",
                            element_name(parameter.name, unflatten(before, differences.first)),
                            element_text(before, differences.first), element_text(after, differences.first),
                            differences.count, before.element_count()));
  }
  return {Outcome::ok, inputs.label, {}, {}};
}

}  // namespace kagent::verifier
