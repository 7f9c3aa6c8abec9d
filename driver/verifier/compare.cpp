// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "verifier/elements.h"
#include "verifier/message.h"
#include "verifier/rules.h"
#include "verifier/surroundings.h"
#include "verifier/verifier.h"

namespace kagent::verifier {
namespace {

// Values that were recorded from the baseline, or are its own, agree with it exactly and tell nothing of its error.
bool baseline_counts(const Expected& expected, const OutputError& baseline) {
  return expected.from == ExpectedFrom::reference ||
         (expected.from == ExpectedFrom::recorded && baseline.max_abs_error > 0);
}

void add(Verdict& verdict, const CallInputs& inputs, const Measured& measured, const std::string& problem) {
  verdict.errors.push_back(measured.error);
  if (problem.empty() || verdict.outcome != Outcome::ok) return;
  verdict.outcome = Outcome::wrong_result;
  verdict.reason = inputs.label + ": " + problem;
}

const Tensor* find_tensor(const std::map<std::string, Tensor>& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

}  // namespace

Verdict compare(const KernelSpec& spec, const CallInputs& inputs, const Expected& expected,
                const std::vector<BufferImage>& images, const BaselineErrors* baseline) {
  if (const auto problem = surroundings_problem(spec, inputs, images))
    return fail(Outcome::wrong_result, inputs, *problem);
  Verdict verdict{Outcome::ok, inputs.label, {}, {}};
  for (const Parameter& parameter : spec.parameters) {
    if (!parameter.is_written()) continue;
    const Tensor& got = find_image(images, parameter.name)->contents;
    const Tensor* wanted = find_tensor(expected.tensors, parameter.name);
    if (!wanted) return fail(Outcome::wrong_result, inputs, "no expected values for output " + parameter.name);
    const bool floating = is_floating(got.dtype) && is_floating(wanted->dtype);
    if (const auto problem = floating ? shape_problem(got, *wanted) : layout_problem(got, *wanted))
      return fail(Outcome::wrong_result, inputs, "output " + parameter.name + ": " + *problem);
    if (!floating) {
      const Measured measured = measure_exact(parameter, got, *wanted);
      add(verdict, inputs, measured, measured.error.failing_elements > 0 ? worst_element(measured) : "");
      continue;
    }
    const Bounds bounds = bounds_of(spec, parameter, inputs.sizes);
    const Tensor* magnitude = find_tensor(expected.magnitude, parameter.name);
    if (magnitude && shape_problem(*magnitude, *wanted))
      return fail(Outcome::wrong_result, inputs, "output " + parameter.name + ": its magnitudes have another shape");
    const Measured measured = measure_floating(parameter, got, *wanted, magnitude, 0, bounds);
    std::string problem = broken_tolerance(measured, bounds);
    if (problem.empty() && baseline)
      if (const auto own = baseline->find(parameter.name);
          own != baseline->end() && baseline_counts(expected, own->second))
        problem = broken_baseline_rule(parameter, measured, own->second);
    add(verdict, inputs, measured, problem);
  }
  return verdict;
}

BaselineErrors baseline_errors(const Verdict& verdict) {
  BaselineErrors errors;
  for (const OutputError& error : verdict.errors) errors.emplace(error.parameter, error);
  return errors;
}

Verdict compare_programs(const KernelSpec& spec, const CallInputs& inputs, const std::vector<BufferImage>& candidate,
                         const std::vector<BufferImage>& incumbent) {
  if (const auto problem = surroundings_problem(spec, inputs, candidate, InputImages::some))
    return fail(Outcome::wrong_result, inputs, *problem);
  Verdict verdict{Outcome::ok, inputs.label, {}, {}};
  for (const Parameter& parameter : spec.parameters) {
    if (!parameter.is_written()) continue;
    const Tensor& got = find_image(candidate, parameter.name)->contents;
    const BufferImage* wanted = find_image(incumbent, parameter.name);
    if (!wanted) return fail(Outcome::wrong_result, inputs, "the incumbent's " + parameter.name + " was not read back");
    if (const auto problem = layout_problem(got, wanted->contents))
      return fail(Outcome::wrong_result, inputs, "output " + parameter.name + ": " + *problem);
    if (!is_floating(parameter.dtype)) {
      const Measured measured = measure_exact(parameter, got, wanted->contents);
      add(verdict, inputs, measured, measured.error.failing_elements > 0 ? worst_element(measured) : "");
      continue;
    }
    const Bounds bounds = doubled(bounds_of(spec, parameter, inputs.sizes));
    // S of a contraction is not known here. Sums of K products of random signs have a root mean square of S / sqrt(K).
    const auto tolerance = spec.tolerance.find(parameter.name);
    double floor = 0;
    if (tolerance != spec.tolerance.end() && tolerance->second.contraction)
      floor = std::sqrt(reduction_length(spec, parameter, inputs.sizes)) * root_mean_square(wanted->contents);
    const Measured measured = measure_floating(parameter, got, wanted->contents, nullptr, floor, bounds);
    // The norm stays at the type's own limit: it is what tells a program that computes in less precision when timed.
    add(verdict, inputs, measured, broken_tolerance(measured, Bounds{bounds.atol, bounds.rtol, 0, bounds.norm}));
  }
  return verdict;
}

}  // namespace kagent::verifier
