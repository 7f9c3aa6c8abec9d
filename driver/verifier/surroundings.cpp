// SPDX-License-Identifier: Apache-2.0
#include "verifier/surroundings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "verifier/message.h"

namespace kagent::verifier {
namespace {

std::string describe(const Tensor& tensor) {
  return fmt::format("{}({})", name(tensor.dtype), fmt::join(tensor.shape, ", "));
}

// The bytes that the shape calls for are there, so that elements can be read.
bool is_whole(const Tensor& tensor) {
  return tensor.bytes.size() == static_cast<std::size_t>(tensor.element_count()) * size_bytes(tensor.dtype);
}

std::optional<std::string> input_problem(const Parameter& parameter, const Tensor& before, const Tensor& after) {
  if (const auto problem = layout_problem(after, before)) return "input " + parameter.name + ": " + *problem;
  const Differences changed = bit_differences(after, before);
  if (changed.count == 0) return std::nullopt;
  return fmt::format("the call changed its input {}: {} was {}, is {}; {} of {} elements differ", parameter.name,
                     element_name(parameter.name, unflatten(before, changed.first)),
                     element_text(before, changed.first), element_text(after, changed.first), changed.count,
                     before.element_count());
}

}  // namespace

const BufferImage* find_image(const std::vector<BufferImage>& images, const std::string& parameter) {
  for (const BufferImage& image : images)
    if (image.parameter == parameter) return &image;
  return nullptr;
}

std::optional<std::string> layout_problem(const Tensor& got, const Tensor& expected) {
  if (got.dtype != expected.dtype) return describe(got) + " where " + describe(expected) + " is expected";
  return shape_problem(got, expected);
}

std::optional<std::string> shape_problem(const Tensor& got, const Tensor& expected) {
  if (got.shape != expected.shape) return describe(got) + " where " + describe(expected) + " is expected";
  if (!is_whole(got)) return fmt::format("{} in {} bytes", describe(got), got.bytes.size());
  if (!is_whole(expected)) return fmt::format("{} expected in {} bytes", describe(expected), expected.bytes.size());
  return std::nullopt;
}

std::optional<std::string> surroundings_problem(const KernelSpec& spec, const CallInputs& inputs,
                                                const std::vector<BufferImage>& images, InputImages expected) {
  for (const BufferImage& image : images)
    if (!image.guards_intact)
      return fmt::format("the call wrote outside of {}, first at byte {} of its {}", image.parameter,
                         image.first_damage,
                         static_cast<std::size_t>(image.contents.element_count()) * size_bytes(image.contents.dtype));
  for (const Parameter& parameter : spec.parameters) {
    if (!parameter.is_read() && !parameter.is_written()) continue;
    const BufferImage* image = find_image(images, parameter.name);
    if (!image) return "buffer " + parameter.name + " was not read back";
    if (parameter.kind != ParameterKind::input) continue;
    if (image->contents.bytes.empty() && expected == InputImages::some) continue;
    const auto given = inputs.tensors.find(parameter.name);
    if (given == inputs.tensors.end()) return "no contents are known for input " + parameter.name;
    if (auto problem = input_problem(parameter, given->second, image->contents)) return problem;
  }
  return std::nullopt;
}

Verdict fail(Outcome outcome, const CallInputs& inputs, const std::string& reason) {
  return {outcome, inputs.label, inputs.label + ": " + reason, {}};
}

}  // namespace kagent::verifier
