// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "values/kernel_spec.h"

namespace kagent::verifier {

// What one output may be off by. S is the magnitude of an element: the sum of absolute products of a contraction, else
// the absolute value of what is expected.
struct Bounds {
  double atol = 0, rtol = 0;
  double reduction = 0;  // 4 u sqrt(K), the factor of S (Higham, Accuracy and Stability, 3.1, probabilistic form)
  double norm = 0;       // limit of |error| / |expected| in the Frobenius norm

  double noise_rtol = 0;  // rtol, but never more than the type's default

  double element(double expected, double magnitude) const;
  // What sound implementations of one precision may differ by, however loose the tolerance is.
  double noise(double expected, double magnitude) const;
};

// Bounds of a written floating parameter under these sizes. A reduction length that cannot be evaluated counts as 0.
Bounds bounds_of(const KernelSpec& spec, const Parameter& parameter, const Sizes& sizes);

// K of the parameter's tolerance, or 0.
double reduction_length(const KernelSpec& spec, const Parameter& parameter, const Sizes& sizes);

// The same, for two programs that each may use up the whole tolerance.
Bounds doubled(const Bounds& bounds);

// At least one unit in the last place of `dtype` near `value`, at most two; never 0.
double spacing(DType dtype, double value);

}  // namespace kagent::verifier
