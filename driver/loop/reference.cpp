// SPDX-License-Identifier: Apache-2.0
#include "loop/reference.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>

#include <fmt/core.h>

#include "util/parallel.h"

namespace kagent::loop {
namespace {

Tensor as_double(const Tensor& tensor, bool absolute) {
  Tensor wide = make_tensor(DType::float64, tensor.shape);
  util::parallel_chunks(tensor.element_count(), util::kElementsAChunk,
                        [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                          for (std::int64_t i = begin; i < end; ++i)
                            wide.set(i, absolute ? std::abs(tensor.at(i)) : tensor.at(i));
                        });
  return wide;
}

CallInputs for_reference(const CallInputs& inputs, bool absolute) {
  CallInputs wide{inputs.label, inputs.sizes, inputs.scalars, {}};
  for (const auto& [name, tensor] : inputs.tensors)
    wide.tensors.emplace(name, is_floating(tensor.dtype) ? as_double(tensor, absolute) : tensor);
  if (absolute)
    for (auto& [name, value] : wide.scalars) value = std::abs(value);
  return wide;
}

}  // namespace

std::vector<Parameter> reference_parameters(const KernelSpec& spec) {
  std::vector<Parameter> parameters;
  for (Parameter parameter : spec.parameters) {
    if (parameter.kind == ParameterKind::stream) continue;
    if (is_floating(parameter.dtype)) parameter.dtype = DType::float64;
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::map<std::string, Tensor> written_tensors(const KernelSpec& spec, std::vector<BufferImage> images, bool widen) {
  std::map<std::string, Tensor> outputs;
  for (BufferImage& image : images) {
    const Parameter* parameter = spec.find_parameter(image.parameter);
    if (!parameter || !parameter->is_written()) continue;
    const bool wide = widen && is_floating(image.contents.dtype) && image.contents.dtype != DType::float64;
    outputs[image.parameter] = wide ? as_double(image.contents, false) : std::move(image.contents);
  }
  return outputs;
}

bool has_contraction(const KernelSpec& spec) {
  return std::ranges::any_of(spec.tolerance, [](const auto& entry) { return entry.second.contraction; });
}

namespace {

// Calls on buffers that `ready` says were laid out, and reads them.
Result<Called> call_prepared(runner::Session& session, const Result<RunResult>& ready, bool inputs_too = true) {
  if (!ready) return std::unexpected(ready.error());
  Called called;
  called.result = *ready;
  if (called.result.outcome != Outcome::ok) return called;
  auto ran = session.call(0);
  if (!ran) return std::unexpected(ran.error());
  called.result = *ran;
  if (called.result.outcome != Outcome::ok) return called;
  auto images = inputs_too ? session.read(0) : session.read_written(0);
  if (!images) return std::unexpected(images.error());
  called.images = std::move(*images);
  if (!called.images.empty()) return called;
  // It died after its call had answered; the next step says how.
  auto after = session.call(0);
  if (!after) return std::unexpected(after.error());
  called.result = *after;
  return called;
}

}  // namespace

Result<Called> call_once(runner::Session& session, const CallInputs& inputs, const runner::CallLayout& layout) {
  return call_prepared(session, session.prepare(0, inputs, layout));
}

Result<Called> call_again(runner::Session& session, const CallInputs& inputs, std::uint8_t poison) {
  return call_prepared(session, session.refill(0, inputs, poison, nullptr));
}

Result<Expected> ask_reference(const KernelSpec& spec, runner::Session& reference, const CallInputs& inputs,
                               runner::Session* beside) {
  using Outputs = std::map<std::string, Tensor>;
  auto ask = [&](runner::Session& session, bool absolute) -> Result<Outputs> {
    auto called = call_prepared(session, session.prepare(0, for_reference(inputs, absolute), {}), false);
    if (!called) return std::unexpected(called.error());
    if (called->result.outcome != Outcome::ok)
      return failure(fmt::format("the reference {} on {}: {} ({})", spec.reference->function, inputs.label,
                                 name(called->result.outcome), called->result.detail),
                     "correct " + spec.reference->source.string());
    return written_tensors(spec, std::move(called->images), false);
  };
  std::future<Result<Outputs>> meanwhile;
  if (beside && has_contraction(spec)) meanwhile = std::async(std::launch::async, ask, std::ref(*beside), true);
  auto outputs = ask(reference, false);
  if (!outputs) return std::unexpected(outputs.error());
  Expected expected{ExpectedFrom::reference, std::move(*outputs), {}};
  if (!has_contraction(spec)) return expected;
  auto magnitude = beside ? meanwhile.get() : ask(reference, true);
  if (!magnitude) return std::unexpected(magnitude.error());
  expected.magnitude = std::move(*magnitude);
  return expected;
}

}  // namespace kagent::loop
