// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "build_step/kernel_context.h"
#include "values/binary.h"
#include "values/bottleneck.h"
#include "values/brief.h"
#include "values/trial.h"

namespace kagent::loop {

// What a brief is made of. References outlive the call.
struct BriefInput {
  const build_step::KernelContext& context;
  const std::vector<Trial>& history;
  std::string device = {}, flags = {};         // as recorded with variants
  std::vector<CaseTimes> baseline_times = {};  // of the baseline against itself; empty: not measured yet
  const Binary* parent_binary = nullptr;       // where it still exists
  std::vector<Lesson> lessons = {};            // all that the project has, newest first
  std::filesystem::path state_folder = {};
  int round = 1, rounds = 1;
  std::vector<Bottleneck> bottlenecks = {};  // of the parent: from analyse_parent(), now or when a run was recorded
};

// What limits the candidate of this hash, one Bottleneck for each of its timed cases; none where it cannot be found
// out.
std::vector<Bottleneck> analyse_parent(const BriefInput& input, const std::string& hash);

// Everything that a proposer that writes code is told when it is to change `parent`. A part that cannot be found out is
// left out.
Brief build_brief(const BriefInput& input, ParentSource parent, std::optional<ParentSource> second = std::nullopt);

// Words for what a kernel does, from its spec: "reduction", "float16", "contraction", "two-inputs", ... .
std::vector<std::string> features_of(const KernelSpec& spec);

}  // namespace kagent::loop
