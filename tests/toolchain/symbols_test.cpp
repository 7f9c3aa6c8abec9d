// SPDX-License-Identifier: Apache-2.0
#include "toolchain/symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::toolchain {
namespace {

using testing::HasSubstr;

std::vector<Symbol> function(const std::string& mangled, const std::string& demangled, char kind = 'T') {
  return {{kind, mangled, demangled}};
}

std::vector<Symbol> operator+(std::vector<Symbol> a, const std::vector<Symbol>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const std::vector<Symbol> kKernel = function("_Z1fPf", "f(float*)");

TEST(ParseSymbols, pairs_the_two_listings_of_nm) {
  const auto symbols = parse_symbols("0000000000000000 T _Z1fPf\n                 U _Z1gv\n0000000000000010 t _ZL1hv\n",
                                     "0000000000000000 T f(float*)\n                 U g()\n0000000000000010 t h()\n");
  ASSERT_EQ(symbols.size(), 2u);
  EXPECT_EQ(symbols[0].mangled, "_Z1fPf");
  EXPECT_EQ(symbols[0].demangled, "f(float*)");
  EXPECT_TRUE(symbols[0].is_function());
  EXPECT_FALSE(symbols[1].is_function());
}

TEST(ParseSymbols, reads_the_shorter_addresses_of_link_time_optimisation) {
  EXPECT_EQ(parse_symbols("00000000 T _Z1fv\n", "00000000 T f()\n").size(), 1u);
  EXPECT_EQ(parse_symbols("---------------- T _Z1fv\n", "---------------- T f()\n").size(), 1u);
}

TEST(ParseSymbols, gives_nothing_for_listings_that_do_not_match_or_are_no_listings) {
  EXPECT_TRUE(parse_symbols("0000000000000000 T a\n0000000000000000 T b\n", "0000000000000000 T a\n").empty());
  EXPECT_TRUE(parse_symbols("nonsense\n\n", "nonsense\n\n").empty());
}

TEST(TakeReadableNames, fills_the_names_that_are_known_or_says_that_one_is_not) {
  auto symbols = function("_Z1fPf", "_Z1fPf") + function("_ZL1sv", "_ZL1sv", 't');
  EXPECT_TRUE(take_readable_names(symbols, kKernel));
  EXPECT_EQ(symbols[0].demangled, "f(float*)");
  symbols = symbols + function("_Z1gv", "_Z1gv");
  EXPECT_FALSE(take_readable_names(symbols, kKernel));
}

TEST(SymbolProblem, is_empty_for_the_baseline_and_for_equal_symbols) {
  EXPECT_EQ(symbol_problem(kKernel, {}), "");
  EXPECT_EQ(symbol_problem(kKernel, kKernel), "");
}

TEST(SymbolProblem, refuses_to_lose_a_function_that_other_files_may_call) {
  const auto baseline = kKernel + function("_Z1gv", "g()");
  EXPECT_THAT(symbol_problem(kKernel, baseline), HasSubstr("'g()'"));
}

TEST(SymbolProblem, lets_inline_and_local_functions_come_and_go) {
  EXPECT_EQ(symbol_problem(kKernel, kKernel + function("_Z1hv", "h()", 'W') + function("_ZL1sv", "s()", 't')), "");
  EXPECT_EQ(symbol_problem(kKernel + function("_Z1hv", "h()", 'W') + function("_Z1iv", "i()"), kKernel), "");
}

TEST(SymbolProblem, refuses_what_would_replace_a_function_of_the_process) {
  for (const char* name : {"clock_gettime", "memcpy", "write", "_Znwm", "_ZdlPvm", "_ZN6kagent6runner5clockEv"})
    EXPECT_THAT(symbol_problem(kKernel + function(name, name), kKernel), HasSubstr(name));
  EXPECT_THAT(symbol_problem(kKernel + function("clock_gettime", "clock_gettime", 'W'), kKernel),
              HasSubstr("clock_gettime"));
}

TEST(SymbolProblem, lets_a_candidate_keep_the_c_functions_of_the_baseline) {
  const auto baseline = kKernel + function("softmax_c", "softmax_c");
  EXPECT_EQ(symbol_problem(baseline, baseline), "");
}

TEST(SymbolProblem, refuses_the_runners_own_names_even_in_a_baseline) {
  EXPECT_THAT(symbol_problem(kKernel + function("main", "main"), {}), HasSubstr("'main'"));
  EXPECT_THAT(symbol_problem(kKernel + function("kagent_call", "kagent_call"), {}), HasSubstr("'kagent_call'"));
}

TEST(SymbolProblem, lets_compilers_add_their_own) {
  EXPECT_EQ(
      symbol_problem(kKernel + function("DW.ref.__gxx_personality_v0", "DW.ref.__gxx_personality_v0", 'V'), kKernel),
      "");
}

TEST(SymbolProblem, leaves_kernels_and_device_functions_to_the_candidate) {
  auto baseline = kKernel + function("_ZN1q1kEPf", "q::k(float*)") +
                  function("_Z23__device_stub__ZN1q1kEPfPf", "__device_stub__ZN1q1kEPf(float*)") +
                  function("_Z6helperf", "helper(float)") + function("_ZN1V1mEf", "V::m(float)") +
                  function("_Z4bothf", "both(float)");
  mark_device_symbols(baseline, {"helper", "m"});
  EXPECT_EQ(symbol_problem(kKernel + function("_Z4bothf", "both(float)"), baseline), "");
  EXPECT_THAT(symbol_problem(kKernel, baseline), HasSubstr("no longer defines 'both(float)'"));
}

TEST(SymbolProblem, lets_nvcc_add_names_that_depend_on_the_path) {
  const auto baseline = kKernel + function("__fatbinwrap_d9c0f61a_4_k_cu_078490e5", "__fatbinwrap", 'D') +
                        function("_ZN36_GLOBAL__N__d9c0f61a_4_k_cu_078490e56hiddenEf", "(anonymous namespace)::hidden");
  const auto candidate = kKernel + function("__fatbinwrap_5f5484b4_4_k_cu_078490e5", "__fatbinwrap", 'D') +
                         function("hostRefKernelArrayInternalLinkage", "hostRefKernelArrayInternalLinkage", 'V');
  EXPECT_EQ(symbol_problem(candidate, baseline), "");
  EXPECT_THAT(symbol_problem(kKernel + function("cudaGetLastError", "cudaGetLastError"), kKernel),
              HasSubstr("'cudaGetLastError'"));
}

}  // namespace
}  // namespace kagent::toolchain
