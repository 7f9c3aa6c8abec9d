// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "gate/finding.h"
#include "gate/gate.h"

namespace kagent::gate {

// Whether the candidate still defines the entry as its callers know it. Nothing is said if the parent's own definition
// cannot be seen (a macro makes it). A kernel may become a template if the candidate names the instance.
std::vector<Rejection> inspect_entry(const Tokens& candidate, const Tokens& parent, const std::string& entry,
                                     CodeKind kind, bool has_instance);

// Tunables whose values the source itself replaces: every candidate would be the same program.
std::vector<Rejection> inspect_tunables(const Tokens& candidate, const TunableValues& tunables);

}  // namespace kagent::gate
