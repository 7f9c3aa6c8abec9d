// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "values/kernel_spec.h"
#include "values/trial.h"

namespace kagent::loop {

// Whether the trials show that the tunables change nothing: several different values, one and the same program.
bool tunables_have_no_effect(const std::vector<Trial>& trials);

}  // namespace kagent::loop
