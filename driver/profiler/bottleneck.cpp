// SPDX-License-Identifier: Apache-2.0
#include "profiler/bottleneck.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "profiler/activity.h"
#include "profiler/counters.h"

namespace kagent::profiler {
namespace {

// A resource that is busy for so much of the time is what limits; below it nothing is, and the kernel waits.
constexpr double kBusyPct = 60;

double value_or(const Numbers& numbers, const std::string& name, double otherwise) {
  const auto found = numbers.find(name);
  return found == numbers.end() ? otherwise : found->second;
}

void put(const Numbers& more, Numbers& numbers) {
  for (const auto& [name, value] : more) numbers[name] = value;
}

// Of the kernel that takes most of the call, where that was seen; else of the greediest that there is.
void add_usage(const Observed& observed, const std::vector<WorkShare>& shares, Numbers& numbers) {
  for (const DeviceUsage& usage : observed.usage)
    numbers["spill_bytes"] += static_cast<double>(usage.spill_store_bytes + usage.spill_load_bytes);
  int registers = 0;
  std::int64_t shared = 0;
  std::optional<LaunchShape> shape = observed.shape;
  if (const auto longest = longest_kernel(shares)) {
    registers = static_cast<int>(longest->work.registers);
    shared = longest->work.static_shared_bytes;
    shape = launch_shape(longest->work);
  } else if (!observed.usage.empty()) {
    registers = std::ranges::max(observed.usage, {}, &DeviceUsage::registers).registers;
    shared = std::ranges::max(observed.usage, {}, &DeviceUsage::shared_bytes).shared_bytes;
  } else {
    return;
  }
  numbers["registers"] = registers;
  numbers["shared_bytes"] = static_cast<double>(shared);
  if (observed.device) put(occupancy(*observed.device, registers, shared, shape), numbers);
}

// How many times the sectors are fetched that accesses of this width need when neighbours meet neighbours. Known only
// where all accesses of the code are of one width.
void add_excess(const std::string& access, Numbers& numbers) {
  constexpr double kSectorBits = 256;
  const auto bits = numbers.find("uniform_" + access + "_bits"), sectors = numbers.find("sectors_per_" + access);
  if (bits == numbers.end() || sectors == numbers.end()) return;
  numbers[access + "_sector_excess"] = sectors->second / std::max(1.0, bits->second * kWarpThreads / kSectorBits);
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
  const auto put_shares = [&](const RooflinePosition& of, const std::string& before) {
    if (of.arithmetic_roof > 0) numbers[before + "roof_compute_pct"] = 100 * of.flops_per_s / of.arithmetic_roof;
    if (ceilings.bytes_per_s > 0) numbers[before + "roof_memory_pct"] = 100 * of.bytes_per_s / ceilings.bytes_per_s;
  };
  put_shares(roof, "");
  // The same while the device works: without launching and what lies between kernels.
  const auto busy = profiler::position(spec, observed.sizes, 1e3 * value_or(numbers, "busy_us", 0), ceilings);
  if (busy && *busy) put_shares(**busy, "busy_");
  numbers["compute_bound"] = roof.limit == Limit::compute ? 1 : 0;
  const double necessary = roof.bytes_per_s * observed.time_ns * 1e-9;
  const double moved = value_or(numbers, "dram_read_bytes", 0) + value_or(numbers, "dram_write_bytes", 0);
  if (necessary > 0 && moved > 0) numbers["traffic_ratio"] = moved / necessary;
  return roof.share;
}

// How busy device memory is, as a share of what it can do. Its peak is no measure, since not even a
// copy gets there: what the kernels move is held against what a copy moved.
void add_memory_share(const Ceilings& ceilings, Numbers& numbers) {
  const double moved = value_or(numbers, "dram_read_bytes", 0) + value_or(numbers, "dram_write_bytes", 0);
  const double time_s = value_or(numbers, "kernel_time_ns", 0) * 1e-9;
  if (moved > 0 && time_s > 0 && ceilings.bytes_per_s > 0)
    numbers["memory_pct"] = std::min(100.0, 100 * moved / time_s / ceilings.bytes_per_s);
  else if (const auto peak = numbers.find("dram_pct"); peak != numbers.end())
    numbers["memory_pct"] = peak->second;
}

// How much of a call's time also an empty kernel takes.
void add_launching(const Observed& observed, const Ceilings& ceilings, Numbers& numbers) {
  if (ceilings.launch_s <= 0 || observed.time_ns <= 0) return;
  numbers["launch_us"] = ceilings.launch_s * 1e6;
  numbers["launch_pct"] = std::min(100.0, 100 * ceilings.launch_s / (observed.time_ns * 1e-9));
}

struct Resource {
  const char* number;
  const char* limited_by;
  const char* resource;
  const char* space;
};
constexpr Resource kResources[]{
    {"memory_pct", "memory bandwidth", "device memory", "device memory"},
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
  // Without counters the roofs have to do, and what the device was seen to do.
  if (value_or(numbers, "idle_between_pct", 0) > 100 - kBusyPct) {
    bottleneck.limited_by = "launches";
    bottleneck.resource = "nothing is busy";
    bottleneck.time = "between kernels";
    bottleneck.space = "not known";
    return;
  }
  const auto roof = [&numbers](const std::string& name) {
    return value_or(numbers, "busy_" + name, value_or(numbers, name, 0));
  };
  const double memory = roof("roof_memory_pct"), compute = roof("roof_compute_pct");
  const bool near = std::max(memory, compute) >= kBusyPct;
  bottleneck.limited_by = !near ? "not known" : memory >= compute ? "memory bandwidth" : "arithmetic";
  bottleneck.resource = !near ? "not known" : memory >= compute ? "memory" : "arithmetic units";
  bottleneck.space = "not known";
}

// The same for host code: the roofs first, then what the processor's counters say of the way to them.
void locate_on_host(const Numbers& numbers, Bottleneck& bottleneck) {
  // Of a thousand instructions. Beyond, such events and not the instructions fill the time.
  constexpr double kManyCacheMisses = 10, kManyBranchMisses = 5;
  // Instructions a cycle: today's cores retire four to eight, and one at most in a chain of dependent ones.
  constexpr double kBusyCore = 2.5, kWaitingCore = 1.0;
  const auto is = [&](const char* by, const char* resource, const char* time, const char* space) {
    bottleneck.limited_by = by;
    bottleneck.resource = resource;
    bottleneck.time = time;
    bottleneck.space = space;
  };
  const double memory = value_or(numbers, "roof_memory_pct", 0), compute = value_or(numbers, "roof_compute_pct", 0);
  const double per_cycle = value_or(numbers, "instructions_per_cycle", -1);
  const char* const time = per_cycle < 0 ? "not known" : "in its instructions";
  if (std::max(memory, compute) >= kBusyPct)
    return memory >= compute ? is("memory bandwidth", "memory", per_cycle < 0 ? time : "waiting for memory", "memory")
                             : is("arithmetic", "arithmetic units", time, "registers");
  if (per_cycle < 0) return is("not known", "not known", "not known", "not known");
  if (value_or(numbers, "cache_misses_per_kilo", 0) > kManyCacheMisses)
    return is("memory latency", "memory", "waiting for memory", "last-level cache");
  if (value_or(numbers, "branch_misses_per_kilo", 0) > kManyBranchMisses)
    return is("branch mispredictions", "front end", "after mispredicted branches", "instructions");
  if (per_cycle > kBusyCore) return is("instruction issue", "execution ports", time, "registers");
  if (per_cycle < kWaitingCore)
    return is("latency", "nothing is busy", "waiting for results of earlier instructions", "registers and caches");
  is("not known", "not known", time, "not known");
}

struct Shown {
  const char* name;
  const char* unit;
  const char* better = nullptr;  // is shown instead where it is known
};
// In this order.
constexpr std::array<Shown, 47> kShown{{
    {"time_us", "us"},
    {"launch_pct", "%"},
    {"kernels", "1"},
    {"busy_us", "us"},
    {"idle_between_pct", "%"},
    {"longest_kernel_pct", "%"},
    {"transfers_pct", "%"},
    {"roof_memory_pct", "%"},
    {"roof_compute_pct", "%"},
    {"busy_roof_memory_pct", "%", "memory_pct"},
    {"busy_roof_compute_pct", "%", "sm_pct"},
    {"traffic_ratio", "1"},
    {"memory_pct", "%"},
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
    {"occupancy_pct", "%", "warps_active_pct"},
    {"waves", "1", "multiprocessors_busy_pct"},
    {"tail_pct", "%", "multiprocessors_busy_pct"},
    {"load_bits", "bit"},
    {"store_bits", "bit"},
    {"tensor_instructions", "1", "tensor_pct"},
    {"local_instructions", "1", "local_share"},
    {"instructions_per_cycle", "1"},
    {"cache_misses_per_kilo", "1"},
    {"cache_miss_share", "1"},
    {"branch_miss_share", "1"},
    {"dtlb_miss_share", "1"},
    {"page_faults", "1"},
    {"processors_busy", "1"},
}};

std::string why_no_better(const Observed& observed) {
  std::string reason = observed.counters_problem;
  const std::string& untraced = observed.trace.problem;
  if (untraced.empty() || untraced == reason) return reason;
  return reason.empty() ? untraced : reason + "; " + untraced;
}

// Where without counters it is only known which kernel the time goes to.
void name_longest_kernel(const std::vector<WorkShare>& shares, Bottleneck& bottleneck) {
  const auto longest = longest_kernel(shares);
  if (shares.size() > 1 && longest && bottleneck.time == "not known")
    bottleneck.time = "mostly in " + longest->work.name;
}

}  // namespace

Result<Bottleneck> summarise(const KernelSpec& spec, const Observed& observed, const Ceilings& ceilings) {
  const std::vector<WorkShare> shares = shares_of(observed.trace);
  Numbers numbers = numbers_of(observed.trace, shares);
  put(numbers_of(observed.kernels), numbers);
  numbers.insert(observed.others.begin(), observed.others.end());
  numbers["time_us"] = observed.time_ns / 1e3;
  if (!observed.device) numbers["host"] = 1;
  add_usage(observed, shares, numbers);
  add_excess("load", numbers);
  add_excess("store", numbers);
  add_spec(spec, numbers);
  add_memory_share(ceilings, numbers);
  add_launching(observed, ceilings, numbers);
  auto share = add_roofline(spec, observed, ceilings, numbers);
  if (!share) return std::unexpected(share.error());

  Bottleneck bottleneck;
  bottleneck.case_name = observed.case_name;
  bottleneck.time_ns = observed.time_ns;
  bottleneck.roofline_share = *share;
  const bool has_counters = !observed.kernels.empty() || numbers.contains("instructions_per_cycle");
  bottleneck.tier = has_counters              ? "counters"
                    : !shares.empty()         ? "activity"
                    : !observed.usage.empty() ? "static"
                                              : "time";
  if (!has_counters) bottleneck.tier_reason = why_no_better(observed);
  bottleneck.kernels = lines_of(shares, observed.device);
  bottleneck.code = observed.code;
  bottleneck.code_reason = observed.code_reason;
  bottleneck.lines = observed.lines;
  if (observed.device || !observed.kernels.empty())
    locate(numbers, bottleneck);
  else
    locate_on_host(numbers, bottleneck);
  name_longest_kernel(shares, bottleneck);
  for (const Shown& shown : kShown)
    if (const auto found = numbers.find(shown.name);
        found != numbers.end() && !(shown.better && numbers.contains(shown.better)))
      bottleneck.metrics.push_back({shown.name, found->second, shown.unit});
  bottleneck.patterns = find_patterns(known_patterns(), numbers);
  return bottleneck;
}

}  // namespace kagent::profiler
