// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <expected>
#include <string>

#include "runner/protocol.h"
#include "values/candidate.h"
#include "values/error.h"
#include "values/kernel_spec.h"
#include "values/launch.h"

namespace kagent::runner {

// The launch of one call in numbers, or in words which of them is beyond what any device can be asked for (an extent
// that is negative or does not fit 32 bits, a block or cluster without threads): that is the candidate's doing. An
// error where an expression cannot be evaluated, which names it.
Result<std::expected<protocol::Geometry, std::string>> evaluate_geometry(const Launch& launch, const Sizes& sizes,
                                                                         const TunableValues& tunables);

}  // namespace kagent::runner
