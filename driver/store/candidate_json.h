// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "values/candidate.h"
#include "values/error.h"
#include "values/trial.h"

namespace kagent::store {

// What a proposer that writes code says of a candidate beside its source, tunables, name and hypothesis, as JSON; empty
// where there is nothing of the kind, as for the thousands of candidates of a search.
std::string details_json(const Candidate& candidate);

// Reads it into `candidate`. Strict: it is kagent's own record.
Result<void> read_details(std::string_view json, Candidate& candidate);

// Times of a trial's cases in the same manner.
std::string case_times_json(const std::vector<CaseTimes>& cases);
Result<void> read_case_times(std::string_view json, std::vector<CaseTimes>& cases);

}  // namespace kagent::store
