// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include "util/parallel.h"
#include "verifier/elements.h"
#include "verifier/verifier.h"

namespace kagent::verifier {
namespace {

double mean_of_finite(const Tensor& tensor) {
  double mean = 0;
  std::int64_t finite = 0;
  const std::int64_t count = tensor.element_count();
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = tensor.at(i);
    if (std::isfinite(value)) mean += (value - mean) / static_cast<double>(++finite);
  }
  return mean;
}

Tensor filled(const Tensor& like, double value) {
  Tensor tensor = like;
  util::parallel_chunks(tensor.element_count(), util::kElementsAChunk,
                        [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                          for (std::int64_t i = begin; i < end; ++i) tensor.set(i, value);
                        });
  return tensor;
}

// What a call that does everything right would leave behind, but with `output` in the place of one output.
std::vector<BufferImage> images_with(const KernelSpec& spec, const CallInputs& inputs, const Expected& expected,
                                     const std::string& parameter, const Tensor& output) {
  std::vector<BufferImage> images;
  for (const Parameter& other : spec.parameters) {
    if (other.name == parameter) {
      images.push_back({other.name, output, true, 0});
    } else if (other.is_written()) {
      Tensor right = make_tensor(other.dtype, expected.tensors.at(other.name).shape);
      const Tensor& wanted = expected.tensors.at(other.name);
      if (wanted.dtype == other.dtype)
        right = wanted;
      else
        util::parallel_chunks(right.element_count(), util::kElementsAChunk,
                              [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                                for (std::int64_t i = begin; i < end; ++i) right.set(i, wanted.at(i));
                              });
      images.push_back({other.name, std::move(right), true, 0});
    } else if (other.kind == ParameterKind::input) {
      images.push_back({other.name, inputs.tensors.at(other.name), true, 0});
    }
  }
  return images;
}

}  // namespace

std::vector<std::string> trivial_passes(const KernelSpec& spec, const CallInputs& inputs, const Expected& expected) {
  std::vector<std::string> passes;
  for (const Parameter& parameter : spec.parameters)
    if (parameter.is_written() && !expected.tensors.contains(parameter.name)) return passes;
  for (const Parameter& parameter : spec.parameters) {
    if (!parameter.is_written()) continue;
    const Tensor& wanted = expected.tensors.at(parameter.name);
    if (wanted.element_count() == 0) continue;
    const Tensor zero = make_tensor(parameter.dtype, wanted.shape);
    auto passes_as = [&](const Tensor& output) {
      const Verdict verdict =
          compare(spec, inputs, expected, images_with(spec, inputs, expected, parameter.name, output));
      return verdict.outcome == Outcome::ok;
    };
    if (passes_as(zero)) passes.push_back(parameter.name + ": all zeros");
    const double mean = mean_of_finite(wanted);
    // The mean of a single element is the right answer, not a trivial one.
    if (mean != 0 && wanted.element_count() > 1 && passes_as(filled(zero, mean)))
      passes.push_back(fmt::format("{}: all {:.4g}", parameter.name, mean));
    for (const auto& [name, input] : inputs.tensors)
      if (input.dtype == parameter.dtype && input.shape == zero.shape && passes_as(input))
        passes.push_back(parameter.name + ": a copy of " + name);
  }
  return passes;
}

}  // namespace kagent::verifier
