// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "values/trial.h"

namespace kagent::loop {

// What was expected of a candidate beside what came of it, in one line; empty for a candidate of the search, which
// expects nothing. `parent_ratio`: time of what it was made of over the baseline's.
std::string reflect(const Trial& trial, double parent_ratio);

}  // namespace kagent::loop
