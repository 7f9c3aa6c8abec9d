// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters.h"

#include <optional>

namespace kagent::profiler {
namespace {

enum class Combine { sum, average };

struct Counter {
  const char* metric;
  const char* name;  // short
  Combine combine = Combine::average;
};

constexpr const char* kTime = "gpu__time_duration.sum";

constexpr Counter kCounters[]{
    {kTime, "kernel_time_ns", Combine::sum},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "sm_pct"},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "dram_pct"},
    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", "l2_pct"},
    {"l1tex__throughput.avg.pct_of_peak_sustained_active", "l1_pct"},
    {"dram__bytes_read.sum", "dram_read_bytes", Combine::sum},
    {"dram__bytes_write.sum", "dram_write_bytes", Combine::sum},
    {"lts__t_sector_hit_rate.pct", "l2_hit_pct"},
    {"l1tex__t_sector_hit_rate.pct", "l1_hit_pct"},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "warps_active_pct"},
    {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "multiprocessors_busy_pct"},
    {"smsp__issue_active.avg.pct_of_peak_sustained_active", "issue_pct"},
    {"smsp__warps_eligible.avg.per_cycle_active", "eligible_warps"},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "tensor_pct"},
    {"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", "fma_pct"},
    {"sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active", "alu_pct"},
    {"sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active", "fp64_pct"},
    {"smsp__inst_executed.sum", "instructions", Combine::sum},
    {"smsp__thread_inst_executed_per_inst_executed.ratio", "threads_per_instruction"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "bank_conflicts", Combine::sum},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "shared_wavefronts", Combine::sum},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "sectors_per_load"},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "sectors_per_store"},
    {"smsp__inst_executed_op_local_ld.sum", "local_loads", Combine::sum},
    {"smsp__inst_executed_op_local_st.sum", "local_stores", Combine::sum},
    {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "stall_long_scoreboard"},
    {"smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio", "stall_short_scoreboard"},
    {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "stall_barrier"},
    {"smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio", "stall_math_pipe"},
    {"smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", "stall_mio_throttle"},
    {"smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio", "stall_lg_throttle"},
    {"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "stall_wait"},
    {"smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio", "stall_not_selected"},
    {"smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio", "stall_no_instruction"},
};

std::optional<double> ratio(const Numbers& numbers, const char* above, const char* below) {
  const auto over = numbers.find(above), under = numbers.find(below);
  if (over == numbers.end() || under == numbers.end() || !(under->second > 0)) return std::nullopt;
  return over->second / under->second;
}

}  // namespace

const std::vector<std::string>& wanted_counters() {
  static const std::vector<std::string> metrics = [] {
    std::vector<std::string> names;
    for (const Counter& counter : kCounters) names.emplace_back(counter.metric);
    return names;
  }();
  return metrics;
}

Numbers numbers_of(const std::vector<std::map<std::string, double>>& kernels) {
  Numbers numbers;
  for (const Counter& counter : kCounters) {
    double sum = 0, weights = 0;
    for (const auto& kernel : kernels) {
      const auto value = kernel.find(counter.metric);
      const auto time = kernel.find(kTime);
      // NaN where nothing of the kind happened, such as the sectors of a load that is never made.
      if (value == kernel.end() || value->second != value->second) continue;
      const double weight = counter.combine == Combine::sum || time == kernel.end() ? 1 : time->second;
      sum += weight * value->second;
      weights += weight;
    }
    if (weights > 0) numbers[counter.name] = counter.combine == Combine::sum ? sum : sum / weights;
  }
  if (!kernels.empty()) numbers["kernels"] = static_cast<double>(kernels.size());
  if (const auto share = ratio(numbers, "bank_conflicts", "shared_wavefronts")) numbers["bank_conflict_share"] = *share;
  const auto loads = ratio(numbers, "local_loads", "instructions"),
             stores = ratio(numbers, "local_stores", "instructions");
  if (loads && stores) numbers["local_share"] = *loads + *stores;
  return numbers;
}

Numbers host_numbers_of(const std::map<std::string, double>& counters, double time_ns) {
  Numbers numbers;
  const auto put = [&](const char* name, const std::optional<double>& value, double factor = 1) {
    if (value) numbers[name] = factor * *value;
  };
  put("instructions_per_cycle", ratio(counters, "instructions", "cycles"));
  put("cache_miss_share", ratio(counters, "cache-misses", "cache-references"));
  put("cache_misses_per_kilo", ratio(counters, "cache-misses", "instructions"), 1000);
  put("branch_miss_share", ratio(counters, "branch-misses", "branches"));
  put("branch_misses_per_kilo", ratio(counters, "branch-misses", "instructions"), 1000);
  put("dtlb_miss_share", ratio(counters, "dTLB-load-misses", "dTLB-loads"));
  if (const auto faults = counters.find("page-faults"); faults != counters.end())
    numbers["page_faults"] = faults->second;
  if (const auto busy = counters.find("task-clock"); busy != counters.end() && time_ns > 0)
    numbers["processors_busy"] = busy->second / time_ns;
  return numbers;
}

}  // namespace kagent::profiler
