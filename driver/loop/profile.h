// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "loop/workbench.h"
#include "values/binary.h"

namespace kagent::loop {

// Looks at a program of the build's: runs each timed case for its hardware counters, on a GPU also a few times for its
// times there and for what the device does during a call, and reads its device code. Keeps what was seen for analyse().
// Does nothing where all is on record already. Never decides anything: what fails is in the record as the reason why
// there is no more. `candidate` is what the program was made of, on record under `candidate_hash`; null and empty for
// the baseline.
void profile(Workbench& bench, const Binary& binary, const std::string& candidate_hash, const Candidate* candidate);

// Where the profile of a candidate lies; of the baseline with an empty hash.
std::filesystem::path profile_of(const Workbench& bench, const std::string& candidate_hash);

}  // namespace kagent::loop
