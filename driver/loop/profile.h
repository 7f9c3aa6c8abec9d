// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loop/workbench.h"
#include "values/binary.h"

namespace kagent::loop {

// Runs each timed case of a program of the build's a few times and once for its hardware counters, and keeps what was
// seen for analyse(). Does nothing for host code, nor where all is on record already. Never decides anything: what
// fails is in the record as the reason why there is no more.
void profile_on_device(Workbench& bench, const Binary& binary, const std::string& candidate_hash);

}  // namespace kagent::loop
