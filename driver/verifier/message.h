// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "verifier/elements.h"

namespace kagent::verifier {

// "y[17][4095]"; "y" for a scalar.
std::string element_name(const std::string& parameter, const std::vector<std::int64_t>& index);

// An element as people write it: integers in full, bool bytes as 0 and 1 (any other byte in hex), floats shortest.
std::string element_text(const Tensor& tensor, std::int64_t flat_index);

// Two floating values with as many digits as they need to look different, if they are.
std::pair<std::string, std::string> distinct_texts(DType dtype, double a, double b);

// "y[17][4095]: got 0.0012, expected 0.0013, 812 ulp, 3.1x the tolerance; 12 of 33554432 elements fail".
std::string worst_element(const Measured& measured);

}  // namespace kagent::verifier
