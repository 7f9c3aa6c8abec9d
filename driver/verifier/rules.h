// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "verifier/bounds.h"
#include "verifier/elements.h"

namespace kagent::verifier {

// Elements and norm of a floating output against its bounds: what is wrong, for people, or empty.
std::string broken_tolerance(const Measured& measured, const Bounds& bounds);

// Its error against the baseline's own on the same inputs: what is wrong, or empty.
std::string broken_baseline_rule(const Parameter& parameter, const Measured& measured, const OutputError& baseline);

}  // namespace kagent::verifier
