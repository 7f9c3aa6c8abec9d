// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "values/kernel_spec.h"
#include "values/tensor.h"

namespace kagent {

// Where expected values come from, best first.
enum class ExpectedFrom { recorded, reference, baseline };

// What one call of the entry is fed with: one case, one set of contents.
struct CallInputs {
  std::string label;  // "training", "ragged[cols=8191]", "training/edge:nan-first"
  Sizes sizes;
  std::map<std::string, double> scalars;  // every scalar parameter, rounded to its dtype
  std::map<std::string, Tensor> tensors;  // every input and inout parameter, with its dtype and shape
};

// What it is compared with. Floating outputs are float64 tensors, all others have the parameter's own dtype.
struct Expected {
  ExpectedFrom from = ExpectedFrom::reference;
  std::map<std::string, Tensor> tensors;    // every written parameter
  std::map<std::string, Tensor> magnitude;  // S of the tolerance for contractions: reference of the absolute inputs
};

}  // namespace kagent
