// SPDX-License-Identifier: Apache-2.0
#include "toolchain/ptxas_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::toolchain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// Recorded from nvcc 13.0.
constexpr const char* kReport = R"(ptxas info    : 4 bytes gmem
ptxas info    : Compiling entry function '_Z4kernIfLi256EEvPKT_PS0_i' for 'sm_90a'
ptxas info    : Function properties for _Z4kernIfLi256EEvPKT_PS0_i
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 14 registers, used 1 barriers, 1024 bytes smem
ptxas info    : Compile time = 4.190 ms
ptxas info    : Function properties for _Z6helperf
    640 bytes stack frame, 64 bytes spill stores, 64 bytes spill loads
ptxas info    : Compiling entry function '__nv_static_25__d9c0f61a_4_k_cu_078490e5__Z5emptyv' for 'sm_80'
ptxas info    : Function properties for __nv_static_25__d9c0f61a_4_k_cu_078490e5__Z5emptyv
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers
)";

TEST(PtxasReport, tells_what_each_kernel_takes) {
  const auto kernels = parse_ptxas_report(kReport, "sm_90a");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels.front().kernel, "void kern<float, 256>(float const*, float*, int)");
  EXPECT_EQ(kernels.front().registers, 14);
  EXPECT_EQ(kernels.front().barriers, 1);
  EXPECT_EQ(kernels.front().shared_bytes, 1024);
  EXPECT_EQ(kernels.front().stack_bytes, 16);
  EXPECT_EQ(kernels.front().spill_store_bytes, 8);
  EXPECT_EQ(kernels.front().spill_load_bytes, 12);
}

TEST(PtxasReport, names_static_kernels_of_relocatable_code_readably) {
  const auto kernels = parse_ptxas_report(kReport, "");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels.back().kernel, "empty()");
}

TEST(PtxasReport, is_told_apart_from_warnings) {
  EXPECT_EQ(without_ptxas_report(std::string("k.cu(1): warning #177-D: x\n") + kReport + "ptxas error   : no\n"),
            "k.cu(1): warning #177-D: x\nptxas error   : no\n");
}

TEST(ThreadBounds, are_those_of_each_kernel) {
  EXPECT_THAT(parse_thread_bounds(".visible .entry _Z1av(\n)\n.maxntid 256, 1, 1\n.minnctapersm 1\n{\n}\n"
                                  ".visible .entry _Z1bv()\n{\n}\n.entry _Z1cv(\n)\n.reqntid 32, 4\n"),
              ElementsAre(Pair("a()", 256), Pair("c()", 128)));
}

TEST(LaunchProblem, names_numbers_and_limit) {
  DeviceUsage usage;
  usage.kernel = "k()";
  usage.registers = 65;
  EXPECT_EQ(launch_problem(usage, 0, "sm_90"), "");
  EXPECT_EQ(launch_problem(usage, 896, "sm_90"), "");
  EXPECT_THAT(launch_problem(usage, 1024, "sm_90"),
              HasSubstr("65 registers a thread, 73728 for a block of 1024 threads"));
  EXPECT_THAT(launch_problem(usage, 2048, "sm_90"), HasSubstr("2048 threads a block; the limit on sm_90 is 1024"));
  usage.shared_bytes = 49153;
  EXPECT_THAT(launch_problem(usage, 0, "sm_90"), HasSubstr("49153 bytes of static shared memory"));
}

TEST(PtxMessages, are_placed_in_the_source_where_it_has_the_instruction) {
  const std::string ptx = "one\n\tbogus.op;\n\tmov.u32 %r1, 0;\n";
  const std::string output =
      "ptxas /k/k.ptx, line 2; error   : Not a name of any known instruction: 'bogus'\n"
      "ptxas /k/k.ptx, line 3; error   : Something else\nptxas /k/k.ptx, line 9; error   : x\n";
  EXPECT_EQ(with_source_lines(output, ptx, "a\nasm(\"bogus.op;\");\n", "k.cu"),
            "k.cu(2): error: Not a name of any known instruction: 'bogus' in 'bogus.op;'\n"
            "ptxas error   : Something else in 'mov.u32 %r1, 0;'\nptxas /k/k.ptx, line 9; error   : x\n");
}

}  // namespace
}  // namespace kagent::toolchain
