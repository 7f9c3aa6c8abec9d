// SPDX-License-Identifier: Apache-2.0
#include "loop/analysis.h"

#include "profiler/bottleneck.h"
#include "profiler/ceilings.h"
#include "store/profile_record.h"
#include "toolchain/machine.h"

namespace kagent::loop {
namespace {

// The roofs of what the kernel runs on. A GPU's were measured when a platform was opened on it: elsewhere there are
// none.
profiler::Ceilings ceilings(const AnalysisInput& input) {
  const auto file = input.state_folder / "ceilings.json";
  if (input.language == Language::cxx) return profiler::cached_ceilings(file, toolchain::machine_description());
  return profiler::cached_ceilings(file, input.device, [] { return profiler::Ceilings{}; });
}

}  // namespace

Result<std::vector<Bottleneck>> analyse(const AnalysisInput& input) {
  std::optional<store::ProfileRecord> profile;
  if (input.language == Language::cuda) profile = store::read_profile(input.profile);
  const profiler::Ceilings roofs = ceilings(input);
  std::vector<Bottleneck> bottlenecks;
  for (const CaseTimes& times : input.times) {
    const Case* timed = input.spec.find_case(times.case_name);
    if (!timed || !(times.candidate_ns > 0)) continue;
    profiler::Observed observed;
    observed.case_name = times.case_name;
    observed.sizes = timed->sizes;
    observed.time_ns = times.candidate_ns;
    observed.counters_problem =
        input.language == Language::cxx ? "counters of the processor are not read" : "it was not profiled";
    if (input.binary) observed.usage = input.binary->device_usage;
    if (profile) {
      observed.device = profile->device;
      observed.usage = profile->usage;
      if (const auto seen = profile->cases.find(times.case_name); seen != profile->cases.end()) {
        observed.kernels = seen->second.kernels;
        observed.counters_problem = seen->second.problem;
      }
    } else if (input.language == Language::cuda) {
      observed.device = Device{};
    }
    auto bottleneck = profiler::summarise(input.spec, observed, roofs);
    if (!bottleneck) return std::unexpected(bottleneck.error());
    bottlenecks.push_back(std::move(*bottleneck));
  }
  return bottlenecks;
}

std::optional<double> roofline_share(const std::vector<Bottleneck>& bottlenecks, const std::vector<CaseTimes>& times) {
  double share = 0, weights = 0;
  for (const Bottleneck& bottleneck : bottlenecks)
    for (const CaseTimes& one : times)
      if (one.case_name == bottleneck.case_name && bottleneck.roofline_share) {
        share += one.weight * *bottleneck.roofline_share;
        weights += one.weight;
      }
  if (weights <= 0) return std::nullopt;
  return share / weights;
}

}  // namespace kagent::loop
