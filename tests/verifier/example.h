// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "verifier/verifier.h"

namespace kagent::verifier::example {

inline Tensor tensor(DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& values) {
  Tensor made = make_tensor(dtype, std::move(shape));
  for (std::size_t i = 0; i < values.size(); ++i) made.set(static_cast<std::int64_t>(i), values[i]);
  return made;
}

// `length` is an expression over the sizes.
inline Tolerance tolerance(double rtol, double atol = 0, const char* length = nullptr, bool contraction = false) {
  Tolerance made;
  made.rtol = rtol;
  made.atol = atol;
  if (length) made.reduction_length = Expression::parse(length).value();
  made.contraction = contraction;
  return made;
}

// y = f(x), one dimension each, of the given type.
struct OneInput {
  KernelSpec spec;
  CallInputs inputs;
  Expected expected;

  OneInput(DType dtype, const std::vector<double>& x, const std::vector<double>& y, Tolerance tolerance = {}) {
    const auto count_x = static_cast<std::int64_t>(x.size()), count_y = static_cast<std::int64_t>(y.size());
    spec.parameters = {{"x", ParameterKind::input, dtype, {}, 0}, {"y", ParameterKind::output, dtype, {}, 0}};
    if (is_floating(dtype)) spec.tolerance["y"] = std::move(tolerance);
    inputs.label = "training";
    inputs.tensors["x"] = tensor(dtype, {count_x}, x);
    expected.tensors["y"] = tensor(is_floating(dtype) ? DType::float64 : dtype, {count_y}, y);
  }

  std::vector<BufferImage> images(const std::vector<double>& y) const {
    const Tensor& wanted = expected.tensors.at("y");
    return {{"x", inputs.tensors.at("x"), true, 0}, {"y", tensor(spec.parameters[1].dtype, wanted.shape, y), true, 0}};
  }
  Verdict compare(const std::vector<double>& y, const BaselineErrors* baseline = nullptr) const {
    return verifier::compare(spec, inputs, expected, images(y), baseline);
  }
};

inline std::vector<double> normal_values(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (double& value : values) value = static_cast<float>(normal(generator));
  return values;
}

}  // namespace kagent::verifier::example
