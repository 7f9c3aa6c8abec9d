// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "values/kernel_spec.h"
#include "values/run_result.h"
#include "values/tensor.h"
#include "values/verdict.h"
#include "verifier/bounds.h"

namespace kagent::verifier {

// One output against what is expected of it: the numbers, before any rule is applied to them.
struct Measured {
  OutputError error;
  std::string got_text, expected_text;  // of the worst element
  bool exact = false;                   // an integer or bool: every bit must match
  bool class_differs = false;           // the worst element is NaN or infinite where it may not be, or the reverse
  std::int64_t elements = 0;
  std::int64_t finite = 0;  // floating: elements that the means are taken over
  // Roots of the mean squares over those elements, and the largest of them.
  double error_rms = 0, expected_rms = 0, magnitude_rms = 0, noise_rms = 0;
  double largest_expected = 0, largest_magnitude = 0, largest_noise = 0;
};

// `magnitude` may be null: then S is |expected|, and at least `magnitude_floor`.
Measured measure_floating(const Parameter& parameter, const Tensor& got, const Tensor& expected,
                          const Tensor* magnitude, double magnitude_floor, const Bounds& bounds);
Measured measure_exact(const Parameter& parameter, const Tensor& got, const Tensor& expected);

// Root of the mean square over the finite elements.
double root_mean_square(const Tensor& tensor);

// Elements begin, begin + 1, ... as doubles.
void load_block(const Tensor& tensor, std::int64_t begin, std::span<double> values);

std::vector<std::int64_t> unflatten(const Tensor& tensor, std::int64_t flat_index);

// Number of elements at which two tensors of the same dtype and shape differ in any bit, and the first of them (-1).
struct Differences {
  std::int64_t count = 0;
  std::int64_t first = -1;
};
Differences bit_differences(const Tensor& a, const Tensor& b);

}  // namespace kagent::verifier
