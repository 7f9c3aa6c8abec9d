// SPDX-License-Identifier: Apache-2.0
#include "loop/analysis.h"

#include <fmt/core.h>

#include "profiler/ceilings.h"
#include "profiler/roofline.h"
#include "toolchain/machine.h"

namespace kagent::loop {
namespace {

// On the roofline, and no more: what time alone says about a call on this machine's cores.
Result<void> place_under_roofs(const AnalysisInput& input, const Case& timed, Bottleneck& bottleneck) {
  const profiler::Ceilings ceilings =
      profiler::cached_ceilings(input.state_folder / "ceilings.json", toolchain::machine_description());
  auto position = profiler::position(input.spec, timed.sizes, bottleneck.time_ns, ceilings);
  if (!position) return std::unexpected(position.error());
  if (!*position) {
    bottleneck.tier_reason = "the spec counts no work";
    return {};
  }
  const bool memory = (*position)->limit == profiler::Limit::memory;
  bottleneck.roofline_share = (*position)->share;
  bottleneck.resource = memory ? "memory" : "arithmetic";
  bottleneck.space = memory ? "main memory or caches" : "vector units";
  // Far under both roofs neither is what limits it.
  constexpr double kNearRoof = 0.5;
  bottleneck.limited_by = (*position)->share < kNearRoof ? "latency or instructions"
                          : memory                       ? "memory bandwidth"
                                                         : "fp32 arithmetic";
  bottleneck.metrics = {{"achieved_flops", (*position)->flops_per_s, "1/s"},
                        {"achieved_bytes", (*position)->bytes_per_s, "byte/s"},
                        {"peak_flops", ceilings.flops_per_s, "1/s"},
                        {"peak_bytes", ceilings.bytes_per_s, "byte/s"},
                        {"roofline_share", (*position)->share * 100, "%"}};
  return {};
}

// What the assembler said, which needs no device.
void add_device_usage(const Binary& binary, Bottleneck& bottleneck) {
  for (const DeviceUsage& usage : binary.device_usage) {
    bottleneck.metrics.push_back({usage.kernel + ": registers", static_cast<double>(usage.registers), "1"});
    bottleneck.metrics.push_back({usage.kernel + ": shared memory", static_cast<double>(usage.shared_bytes), "byte"});
    bottleneck.metrics.push_back(
        {usage.kernel + ": spills", static_cast<double>(usage.spill_store_bytes + usage.spill_load_bytes), "byte"});
  }
}

}  // namespace

Result<std::vector<Bottleneck>> analyse(const AnalysisInput& input) {
  std::vector<Bottleneck> bottlenecks;
  for (const CaseTimes& times : input.times) {
    const Case* timed = input.spec.find_case(times.case_name);
    if (!timed || !(times.candidate_ns > 0)) continue;
    Bottleneck bottleneck;
    bottleneck.case_name = times.case_name;
    bottleneck.time_ns = times.candidate_ns;
    bottleneck.tier = "time";
    bottleneck.time = fmt::format("{:.0f} ns a call", times.candidate_ns);
    if (input.language == Language::cuda) {
      bottleneck.tier_reason = "no profiler was asked";
      bottleneck.space = "device memory";
      if (input.binary) add_device_usage(*input.binary, bottleneck);
    } else {
      bottleneck.tier_reason = "counters of the processor are not read";
      if (auto done = place_under_roofs(input, *timed, bottleneck); !done) return std::unexpected(done.error());
    }
    bottlenecks.push_back(std::move(bottleneck));
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
