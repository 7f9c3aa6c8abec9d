// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "values/kernel_spec.h"
#include "values/trial.h"

namespace kagent::loop {

// Tunables that the source defines itself, outside of #ifndef: the value that kagent sets would be overridden with only a
// warning, every candidate would be the same program, and a search would find noise. One line for each, with its line.
std::vector<std::string> overridden_tunables(const std::string& source, const std::vector<Tunable>& tunables);

// Whether the trials show that the tunables change nothing: several different values, one and the same program.
bool tunables_have_no_effect(const std::vector<Trial>& trials);

}  // namespace kagent::loop
