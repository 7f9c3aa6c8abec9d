// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "values/decision.h"

namespace kagent::report {

// A table for people, one line a timed case: both times, the speedup with its confidence interval, the verdict; a last
// line for all cases together. Ends with a newline.
std::string decision_table(const Decision& decision, const std::string& incumbent, const std::string& candidate);

}  // namespace kagent::report
