// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "proposer/proposer.h"

namespace kagent::proposer {

// Parts of the prompt as text, without a budget. Names and numbers are the project's; everything that a compiler or a
// model wrote is fenced or put on one line.
std::string rules_part(const Proposal& proposal);
std::string task_part(const Proposal& proposal);
std::string bottleneck_part(const Brief& brief);
std::string best_part(const Brief& brief);
std::string lessons_part(const Brief& brief);
// "TILE: 16, 32, 64".
std::string describe_tunable(const Tunable& tunable);
// What was tried, from the trials: what worked, what brought nothing, what failed, and what the numeric search found.
std::string history_part(const Proposal& proposal);

}  // namespace kagent::proposer
