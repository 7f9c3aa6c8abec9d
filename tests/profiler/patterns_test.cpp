// SPDX-License-Identifier: Apache-2.0
#include "profiler/patterns.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/counters.h"

namespace kagent::profiler {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<PatternRule> rules(const std::string& rule) {
  auto parsed = parse_patterns("{\"patterns\": [" + rule + "]}");
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed.value_or(std::vector<PatternRule>{});
}

const std::string kRule = R"({"name": "p", "when": ["a > 2", "b < 1.5"], "unless": ["c > 0"],
  "cost": ["a", 2, 12, 0.1, 0.6], "evidence": "{a} of {b}, {d} and {", "advice": "less", "source": "a book"})";

TEST(Patterns, a_pattern_shows_where_all_its_conditions_hold) {
  const auto found = find_patterns(rules(kRule), {{"a", 7}, {"b", 1}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "p");
  EXPECT_DOUBLE_EQ(found[0].severity, 0.35);
  EXPECT_EQ(found[0].evidence, "7 of 1, ? and {");
  EXPECT_EQ(found[0].advice, "less");
}

TEST(Patterns, a_pattern_does_not_show_where_one_condition_fails_or_is_not_known) {
  EXPECT_THAT(find_patterns(rules(kRule), {{"a", 2}, {"b", 1}}), IsEmpty());
  EXPECT_THAT(find_patterns(rules(kRule), {{"a", 7}}), IsEmpty());
  EXPECT_THAT(find_patterns(rules(kRule), {{"a", 7}, {"b", 1}, {"c", 1}}), IsEmpty());
}

TEST(Patterns, a_broken_rule_is_named) {
  for (const char* broken : {R"({"name": "x"})", R"({"name": "x", "when": ["a => 2"]})", R"("text")",
                             R"({"name": "x", "when": [], "cost": ["a", 0, 1, 0, 1], "evidence": "", "advice": "",
                                 "source": ""})",
                             R"({"name": "x", "when": ["a > many"], "cost": ["a", 0, 1, 0, 1], "evidence": "",
                                 "advice": "", "source": ""})",
                             R"({"name": "x", "when": ["a > 1"], "cost": ["a", 1, 1, 0, 1], "evidence": "",
                                 "advice": "", "source": ""})"}) {
    const auto parsed = parse_patterns(std::string("{\"patterns\": [") + broken + "]}");
    ASSERT_FALSE(parsed) << broken;
    EXPECT_THAT(parsed.error().message, HasSubstr("pattern 0")) << broken;
  }
  EXPECT_FALSE(parse_patterns("[]"));
  EXPECT_FALSE(parse_patterns("{"));
}

TEST(Patterns, known_patterns_have_evidence_advice_and_source_under_distinct_names) {
  std::set<std::string> names;
  for (const PatternRule& rule : known_patterns()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_FALSE(rule.evidence.empty() || rule.advice.empty() || rule.source.empty()) << rule.name;
  }
  EXPECT_GE(names.size(), 13u);
}

// The numbers of a kernel that does one thing wrong, and the pattern that has to come out first or among the first.
struct Planted {
  const char* pattern;
  Numbers numbers;
};

TEST(Patterns, planted_numbers_show_their_pattern) {
  const Planted planted[]{
      {"at-memory-bandwidth", {{"memory_pct", 93}}},
      {"uncoalesced-loads", {{"sectors_per_load", 32}}},
      {"uncoalesced-stores", {{"sectors_per_store", 31.5}}},
      {"shared-bank-conflicts", {{"bank_conflict_share", 0.97}}},
      {"register-spills", {{"local_share", 0.12}, {"spill_bytes", 320}, {"registers", 255}}},
      {"divergent-warps", {{"threads_per_instruction", 3}}},
      {"barrier-stalls", {{"stall_barrier", 8}}},
      {"launch-bound", {{"launch_pct", 60}}},
      {"latency-bound", {{"memory_pct", 20}, {"sm_pct", 15}, {"stall_long_scoreboard", 14}}},
      {"tail-effect", {{"multiprocessors_busy_pct", 40}}},
      {"gaps-between-kernels", {{"kernels", 4}, {"idle_between_pct", 55}}},
      {"intermediates-between-kernels", {{"kernels", 3}, {"compute_bound", 0}, {"busy_roof_memory_pct", 30}}},
      {"copies-and-fills", {{"transfers_pct", 35}}},
      {"last-wave-part-filled", {{"waves", 1.2}, {"tail_pct", 40}}},
      {"work-outside-the-call", {{"busy_us", 500}, {"outside_events_us", 400}, {"outside_events_pct", 80}}},
      {"tensor-pipe-idle", {{"contraction", 1}, {"narrow_float", 2}, {"tensor_pct", 0}, {"compute_bound", 1}}},
  };
  for (const Planted& one : planted)
    EXPECT_THAT(find_patterns(known_patterns(), one.numbers), Contains(Field(&Pattern::name, one.pattern)))
        << one.pattern;
}

TEST(Patterns, wide_vector_accesses_are_not_called_uncoalesced) {
  // 16 sectors are what 32 threads with 16 bytes each need, and what 8 strided bytes a thread touch: only the widths of
  // the accesses tell.
  EXPECT_THAT(find_patterns(known_patterns(), {{"sectors_per_load", 16}, {"sectors_per_store", 16}}), IsEmpty());
  EXPECT_THAT(find_patterns(known_patterns(), {{"sectors_per_load", 16}, {"wide_loads", 0.9}}), IsEmpty());
  EXPECT_THAT(find_patterns(known_patterns(), {{"sectors_per_load", 16}, {"wide_loads", 0.1}}),
              Contains(Field(&Pattern::name, "partly-coalesced-loads")));
}

TEST(Patterns, what_is_seen_at_run_time_is_not_told_again_from_the_code) {
  const Numbers code{{"spill_bytes", 320}, {"registers", 255}, {"fp64_instructions", 4}, {"double_parameters", 0}};
  EXPECT_THAT(find_patterns(known_patterns(), code), Contains(Field(&Pattern::name, "spills-in-code")));
  EXPECT_THAT(find_patterns(known_patterns(), code), Contains(Field(&Pattern::name, "fp64-in-code")));
  Numbers counted = code;
  counted.insert({{"local_share", 0}, {"fp64_pct", 0}});
  EXPECT_THAT(find_patterns(known_patterns(), counted), IsEmpty());
}

TEST(Counters, of_a_call_of_host_code_give_ratios_and_leave_out_what_is_not_known) {
  const Numbers numbers = host_numbers_of({{"cycles", 1000},
                                           {"instructions", 2000},
                                           {"cache-references", 100},
                                           {"cache-misses", 25},
                                           {"branches", 400},
                                           {"branch-misses", 20},
                                           {"dTLB-loads", 0},
                                           {"dTLB-load-misses", 3},
                                           {"task-clock", 3000},
                                           {"page-faults", 2}},
                                          1500);
  EXPECT_DOUBLE_EQ(numbers.at("instructions_per_cycle"), 2);
  EXPECT_DOUBLE_EQ(numbers.at("cache_miss_share"), 0.25);
  EXPECT_DOUBLE_EQ(numbers.at("cache_misses_per_kilo"), 12.5);
  EXPECT_DOUBLE_EQ(numbers.at("branch_miss_share"), 0.05);
  EXPECT_DOUBLE_EQ(numbers.at("branch_misses_per_kilo"), 10);
  EXPECT_DOUBLE_EQ(numbers.at("processors_busy"), 2);
  EXPECT_DOUBLE_EQ(numbers.at("page_faults"), 2);
  EXPECT_FALSE(numbers.contains("dtlb_miss_share"));
  EXPECT_THAT(host_numbers_of({}, 1500), IsEmpty());
}

TEST(Counters, of_several_kernels_are_summed_or_averaged_over_time) {
  const Numbers numbers = numbers_of({{{"gpu__time_duration.sum", 100},
                                       {"dram__bytes_read.sum", 10},
                                       {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 90}},
                                      {{"gpu__time_duration.sum", 300},
                                       {"dram__bytes_read.sum", 20},
                                       {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 10}}});
  EXPECT_DOUBLE_EQ(numbers.at("kernel_time_ns"), 400);
  EXPECT_DOUBLE_EQ(numbers.at("dram_read_bytes"), 30);
  EXPECT_DOUBLE_EQ(numbers.at("dram_pct"), 30);
  EXPECT_DOUBLE_EQ(numbers.at("kernels"), 2);
  EXPECT_FALSE(numbers.contains("sectors_per_load"));
  EXPECT_THAT(numbers_of({}), IsEmpty());
}

}  // namespace
}  // namespace kagent::profiler
