// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "values/candidate.h"
#include "values/trial.h"

namespace kagent::loop {

// What the exchanges cost that led to a candidate: its own, that of the source whose tunables it sets, and those of the
// failed attempts at the same idea (idea_of()) that were repaired on the way to it.
Usage usage_behind(const std::vector<Trial>& history, const Trial& trial);

// What each of so many answers has of it, so that the shares add up to the whole; nothing where nothing is known.
std::vector<std::optional<Usage>> shared_out(const std::optional<Usage>& whole, std::size_t answers);

}  // namespace kagent::loop
