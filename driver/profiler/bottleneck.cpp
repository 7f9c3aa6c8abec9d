// SPDX-License-Identifier: Apache-2.0
#include "profiler/bottleneck.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "profiler/counters.h"

namespace kagent::profiler {
namespace {

// A resource that is busy for so much of the time is what limits; below it nothing is, and the kernel waits.
constexpr double kBusyPct = 60;
// A block's registers are given out in units of this many a warp.
constexpr int kRegisterUnit = 256, kWarp = 32;

double value_or(const Numbers& numbers, const std::string& name, double otherwise) {
  const auto found = numbers.find(name);
  return found == numbers.end() ? otherwise : found->second;
}

// Resident warps that registers and shared memory alone would allow, for the greediest kernel.
void add_usage(const Observed& observed, Numbers& numbers) {
  if (observed.usage.empty()) return;
  const auto greediest = std::ranges::max_element(observed.usage, {}, &DeviceUsage::registers);
  const auto largest = std::ranges::max_element(observed.usage, {}, &DeviceUsage::shared_bytes);
  numbers["registers"] = greediest->registers;
  numbers["shared_bytes"] = static_cast<double>(largest->shared_bytes);
  for (const DeviceUsage& usage : observed.usage)
    numbers["spill_bytes"] += static_cast<double>(usage.spill_store_bytes + usage.spill_load_bytes);
  if (!observed.device || observed.device->threads_per_multiprocessor <= 0) return;
  const int per_warp = (greediest->registers * kWarp + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
  const double warps = observed.device->threads_per_multiprocessor / static_cast<double>(kWarp);
  if (per_warp > 0) {
    const int resident = observed.device->registers_per_multiprocessor / per_warp;
    numbers["occupancy_by_registers_pct"] = 100 * std::min(1.0, resident / warps);
  }
  if (largest->shared_bytes > 0) {
    const std::int64_t blocks = observed.device->shared_bytes_per_multiprocessor / largest->shared_bytes;
    numbers["occupancy_by_shared_blocks"] = static_cast<double>(blocks);
  }
}

bool is_narrow(DType dtype) {
  return is_floating(dtype) && size_bytes(dtype) <= 2;
}

void add_spec(const KernelSpec& spec, Numbers& numbers) {
  const auto count = [&](auto what) { return static_cast<double>(std::ranges::count_if(spec.parameters, what)); };
  numbers["narrow_float"] =
      count([](const Parameter& p) { return p.kind == ParameterKind::input && is_narrow(p.dtype); });
  numbers["double_parameters"] = count([](const Parameter& p) { return p.is_buffer() && p.dtype == DType::float64; });
  numbers["contraction"] = static_cast<double>(
      std::ranges::count_if(spec.tolerance, [](const auto& entry) { return entry.second.contraction; }));
}

// Where the case lies under the two roofs, and how many times the necessary bytes it moves.
Result<std::optional<double>> add_roofline(const KernelSpec& spec, const Observed& observed, const Ceilings& ceilings,
                                           Numbers& numbers) {
  auto position = profiler::position(spec, observed.sizes, observed.time_ns, ceilings);
  if (!position) return std::unexpected(position.error());
  if (!*position) return std::nullopt;
  const RooflinePosition& roof = **position;
  if (const double ceiling = arithmetic_ceiling(spec, ceilings); ceiling > 0)
    numbers["roof_compute_pct"] = 100 * roof.flops_per_s / ceiling;
  if (ceilings.bytes_per_s > 0) numbers["roof_memory_pct"] = 100 * roof.bytes_per_s / ceilings.bytes_per_s;
  numbers["compute_bound"] = roof.limit == Limit::compute ? 1 : 0;
  const double necessary = roof.bytes_per_s * observed.time_ns * 1e-9;
  const double moved = value_or(numbers, "dram_read_bytes", 0) + value_or(numbers, "dram_write_bytes", 0);
  if (necessary > 0 && moved > 0) numbers["traffic_ratio"] = moved / necessary;
  return roof.share;
}

struct Resource {
  const char* number;
  const char* limited_by;
  const char* resource;
  const char* space;
};
constexpr Resource kResources[]{
    {"dram_pct", "memory bandwidth", "device memory", "device memory"},
    {"tensor_pct", "tensor arithmetic", "tensor pipe", "registers and shared memory"},
    {"fp64_pct", "fp64 arithmetic", "fp64 pipe", "registers"},
    {"fma_pct", "fp32 arithmetic", "fp32 pipe", "registers"},
    {"alu_pct", "integer arithmetic", "integer pipe", "registers"},
    {"l2_pct", "L2 bandwidth", "L2 cache", "L2 cache"},
    {"l1_pct", "L1 and shared memory bandwidth", "L1 and shared memory", "shared memory"},
    {"issue_pct", "instruction issue", "instruction scheduler", "registers"},
};

struct Stall {
  const char* number;
  const char* time;
  const char* space;
};
constexpr Stall kStalls[]{
    {"stall_long_scoreboard", "waiting for global or local memory", "device memory"},
    {"stall_short_scoreboard", "waiting for shared memory or special functions", "shared memory"},
    {"stall_barrier", "waiting at barriers", "thread block"},
    {"stall_math_pipe", "waiting for an arithmetic pipe", "registers"},
    {"stall_mio_throttle", "waiting for the shared memory queue", "shared memory"},
    {"stall_lg_throttle", "waiting for the global memory queue", "device memory"},
    {"stall_wait", "waiting for fixed latencies", "registers"},
    {"stall_no_instruction", "waiting for instructions", "instruction cache"},
};

void locate(const Numbers& numbers, Bottleneck& bottleneck) {
  const Stall* longest = nullptr;
  for (const Stall& stall : kStalls)
    if (value_or(numbers, stall.number, 0) > (longest ? value_or(numbers, longest->number, 0) : 0)) longest = &stall;
  bottleneck.time = longest ? longest->time : "not known";
  const Resource* busiest = nullptr;
  for (const Resource& resource : kResources)
    if (value_or(numbers, resource.number, 0) > (busiest ? value_or(numbers, busiest->number, 0) : 0))
      busiest = &resource;
  if (busiest && value_or(numbers, busiest->number, 0) >= kBusyPct) {
    bottleneck.limited_by = busiest->limited_by;
    bottleneck.resource = busiest->resource;
    bottleneck.space = busiest->space;
    return;
  }
  if (longest) {
    bottleneck.limited_by = "latency";
    bottleneck.resource = "nothing is busy";
    bottleneck.space = longest->space;
    return;
  }
  // Without counters the roofs have to do.
  const double memory = value_or(numbers, "roof_memory_pct", 0), compute = value_or(numbers, "roof_compute_pct", 0);
  const bool near = std::max(memory, compute) >= kBusyPct;
  bottleneck.limited_by = !near ? "not known" : memory >= compute ? "memory bandwidth" : "arithmetic";
  bottleneck.resource = !near ? "not known" : memory >= compute ? "memory" : "arithmetic units";
  bottleneck.space = "not known";
}

// Those that are shown, in this order.
constexpr std::array<std::pair<const char*, const char*>, 28> kShown{{
    {"time_us", "us"},
    {"kernels", "1"},
    {"roof_memory_pct", "%"},
    {"roof_compute_pct", "%"},
    {"traffic_ratio", "1"},
    {"dram_pct", "%"},
    {"l2_pct", "%"},
    {"l2_hit_pct", "%"},
    {"l1_pct", "%"},
    {"sm_pct", "%"},
    {"issue_pct", "%"},
    {"tensor_pct", "%"},
    {"fma_pct", "%"},
    {"alu_pct", "%"},
    {"warps_active_pct", "%"},
    {"multiprocessors_busy_pct", "%"},
    {"eligible_warps", "1"},
    {"threads_per_instruction", "1"},
    {"sectors_per_load", "1"},
    {"sectors_per_store", "1"},
    {"bank_conflict_share", "1"},
    {"local_share", "1"},
    {"registers", "1"},
    {"shared_bytes", "byte"},
    {"spill_bytes", "byte"},
    {"instructions_per_cycle", "1"},
    {"cache_miss_share", "1"},
    {"branch_miss_share", "1"},
}};

}  // namespace

Result<Bottleneck> summarise(const KernelSpec& spec, const Observed& observed, const Ceilings& ceilings) {
  Numbers numbers = numbers_of(observed.kernels);
  numbers.insert(observed.others.begin(), observed.others.end());
  numbers["time_us"] = observed.time_ns / 1e3;
  if (!observed.device) numbers["host"] = 1;
  add_usage(observed, numbers);
  add_spec(spec, numbers);
  auto share = add_roofline(spec, observed, ceilings, numbers);
  if (!share) return std::unexpected(share.error());

  Bottleneck bottleneck;
  bottleneck.case_name = observed.case_name;
  bottleneck.time_ns = observed.time_ns;
  bottleneck.roofline_share = *share;
  const bool has_counters = !observed.kernels.empty() || numbers.contains("instructions_per_cycle");
  bottleneck.tier = has_counters ? "counters" : !observed.usage.empty() ? "static" : "time";
  if (!has_counters) bottleneck.tier_reason = observed.counters_problem;
  locate(numbers, bottleneck);
  for (const auto& [name, unit] : kShown)
    if (const auto found = numbers.find(name); found != numbers.end())
      bottleneck.metrics.push_back({name, found->second, unit});
  bottleneck.patterns = find_patterns(known_patterns(), numbers);
  return bottleneck;
}

}  // namespace kagent::profiler
