// SPDX-License-Identifier: Apache-2.0
#include "loop/tunable_check.h"

namespace kagent::loop {
namespace {

// Enough different values that one program for all of them is no coincidence.
constexpr int kEnoughTrials = 4;

}  // namespace

bool tunables_have_no_effect(const std::vector<Trial>& trials) {
  int compiled = 0;
  std::string first;
  for (const Trial& trial : trials) {
    if (trial.object_hash.empty() || trial.candidate.tunables.empty()) continue;
    // Of a candidate's own tunables its author is to be told, and not the project.
    if (!trial.candidate.own_tunables.empty()) continue;
    if (++compiled > 1 && trial.object_hash != first) return false;
    first = trial.object_hash;
  }
  return compiled >= kEnoughTrials;
}

}  // namespace kagent::loop
