// SPDX-License-Identifier: Apache-2.0
#include "loop/analysis.h"

#include <set>

#include "loop/code_facts.h"
#include "profiler/bottleneck.h"
#include "profiler/ceilings.h"
#include "profiler/counters.h"
#include "runner/geometry.h"
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

// The launch of a program of style kernel, where it can be evaluated.
std::optional<profiler::LaunchShape> shape_of(const Binary* binary, const Sizes& sizes) {
  if (!binary || !binary->launch) return std::nullopt;
  const auto geometry = runner::evaluate_geometry(*binary->launch, sizes, binary->tunables);
  if (!geometry || !*geometry) return std::nullopt;
  const auto product = [](const std::uint32_t(&of)[3]) { return std::int64_t{of[0]} * of[1] * of[2]; };
  return profiler::LaunchShape{product((*geometry)->block), product((*geometry)->grid), (*geometry)->shared_bytes};
}

// What the candidate's profile says of the case, or its binary where it has no profile.
void observe(const AnalysisInput& input, const std::optional<store::ProfileRecord>& profile, const CodeFacts& code,
             profiler::Observed& observed) {
  const bool cuda = input.language == Language::cuda;
  if (cuda) observed.device = profile ? profile->device : Device{};
  observed.counters_problem = "it was not profiled";
  if (input.binary) observed.usage = input.binary->device_usage;
  if (profile) {
    observed.usage = profile->usage;
    if (const auto seen = profile->cases.find(observed.case_name); seen != profile->cases.end()) {
      if (cuda) {
        observed.kernels = seen->second.kernels;
        observed.trace = seen->second.trace;
      } else if (!seen->second.kernels.empty()) {
        observed.others = profiler::host_numbers_of(seen->second.kernels.front(), observed.time_ns);
      }
      observed.counters_problem = seen->second.problem;
    }
  }
  if (!cuda) return;
  observed.shape = shape_of(input.binary, observed.sizes);
  observed.others = code.numbers;
  observed.code = code.text;
  observed.code_reason = code.reason;
  observed.lines = code.lines;
}

}  // namespace

Result<std::vector<Bottleneck>> analyse(const AnalysisInput& input) {
  const auto profile = store::read_profile(input.profile);
  const profiler::Ceilings roofs = ceilings(input);
  const CodeFacts code = input.language != Language::cuda ? CodeFacts{}
                         : profile                        ? profile->code
                         : input.binary                   ? read_code(device_code_of(*input.binary), input.compiler)
                                                          : CodeFacts{{}, {}, "it was not profiled", {}};
  std::vector<Bottleneck> bottlenecks;
  for (const CaseTimes& times : input.times) {
    const Case* timed = input.spec.find_case(times.case_name);
    if (!timed || !(times.candidate_ns > 0)) continue;
    profiler::Observed observed;
    observed.case_name = times.case_name;
    observed.sizes = timed->sizes;
    observed.time_ns = times.candidate_ns;
    observe(input, profile, code, observed);
    auto bottleneck = profiler::summarise(input.spec, observed, roofs);
    if (!bottleneck) return std::unexpected(bottleneck.error());
    bottlenecks.push_back(std::move(*bottleneck));
  }
  return bottlenecks;
}

std::map<std::string, double> profiled_numbers(const AnalysisInput& input) {
  // These stand with the cases, or follow from them.
  static const std::set<std::string> kOfTime{"time_us", "launch_pct", "roof_memory_pct", "roof_compute_pct"};
  const auto bottlenecks = analyse(input);
  std::map<std::string, double> numbers;
  if (!bottlenecks) return numbers;
  for (const Bottleneck& one : *bottlenecks)
    for (const Metric& metric : one.metrics)
      if (!kOfTime.contains(metric.name)) numbers[one.case_name + "/" + metric.name] = metric.value;
  return numbers;
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
