// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "values/case_data.h"
#include "values/kernel_spec.h"
#include "values/run_result.h"
#include "values/verdict.h"

namespace kagent::verifier {

// The image of a parameter, or null.
const BufferImage* find_image(const std::vector<BufferImage>& images, const std::string& parameter);

// Whether every input was read back, or some were left out: those have no bytes, and are not looked at.
enum class InputImages { all, some };

// What is wrong beside the outputs' values: a damaged guard, a changed input, a buffer that is missing or has another
// type or size than the call had. Nothing if all is well.
std::optional<std::string> surroundings_problem(const KernelSpec& spec, const CallInputs& inputs,
                                                const std::vector<BufferImage>& images,
                                                InputImages expected = InputImages::all);

// Why two tensors of the same type cannot be compared element by element, or nothing.
std::optional<std::string> layout_problem(const Tensor& got, const Tensor& expected);
// The same, where the types may differ (float64 expected of a float32 output).
std::optional<std::string> shape_problem(const Tensor& got, const Tensor& expected);

Verdict fail(Outcome outcome, const CallInputs& inputs, const std::string& reason);

}  // namespace kagent::verifier
