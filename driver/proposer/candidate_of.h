// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <expected>
#include <string>

#include "proposer/answer.h"
#include "proposer/proposer.h"

namespace kagent::proposer {

// Why an answer that could be read makes no candidate.
struct CandidateProblem {
  std::string name;     // of an EditError, or "no_code", "invalid_launch"
  std::string message;  // for the model that wrote it
};

// The candidate that an answer makes of `base`, whose source it was shown: edits applied, tunables of both together
// with first values that meet the constraints, the words taken over. Who proposed it is left to the caller.
std::expected<Candidate, CandidateProblem> candidate_of(const Answer& answer, const Candidate& base,
                                                        const KernelSpec& spec);

}  // namespace kagent::proposer
