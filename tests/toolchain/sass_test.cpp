// SPDX-License-Identifier: Apache-2.0
#include "toolchain/sass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toolchain/cuda_fixture.h"

namespace kagent::toolchain {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Pair;

// Recorded from nvdisasm 13 on sm_90a, lines left out.
constexpr const char* kRecorded = R"(	.target	sm_90a
//--------------------- .text._Z3vecPK6float4PS_i         --------------------------
	.section	.text._Z3vecPK6float4PS_i,"ax",@progbits
        .other          _Z3vecPK6float4PS_i,@"STO_CUDA_ENTRY STV_DEFAULT"
_Z3vecPK6float4PS_i:
.text._Z3vecPK6float4PS_i:
	//## File "/p/k.cu", line 5
        /*0000*/                   LDC R1, c[0x0][0x28] ;
	//## File "/p/k.cu", line 8
        /*00a0*/                   LDG.E.128 R12, desc[UR6][R2.64] ;
        /*00b0*/                   LDG.E.U8 R12, desc[UR6][R2.64] ;
        /*00c0*/                   STS.128 [R10+UR4], R12 ;
        /*00d0*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*00e0*/                   LDS.128 R4, [R5+UR4] ;
	//## File "/usr/include/crt/mma.hpp", line 91 inlined at "/p/k.cu", line 9
        /*00f0*/                   LDSM.16.M88.4 R12, [R0] ;
        /*0100*/                   HMMA.16816.F32 R4, R12, R8, RZ ;
        /*0110*/                   HMMA.16816.F32 R4, R12, R8, R4 ;
        /*0120*/               @P0 MUFU.EX2 R4, R11 ;
        /*0130*/                   FFMA R4, R5, R6, R4 ;
        /*0140*/                   DMUL R2, R2, 2 ;
        /*0150*/                   HFMA2.MMA R2, -RZ, RZ, 0, 0 ;
        /*0160*/                   IMAD.WIDE R16, R0, 0x4, R2 ;
        /*0170*/              @!PT LDS RZ, [RZ] ;
        /*0180*/                   LDGSTS.E.BYPASS.128 [R7], desc[UR6][R4.64] ;
        /*0190*/                   UBLKCP.S.G [UR8], [UR4], UR6 ;
        /*01a0*/                   UTMALDG.2D [UR8], [UR4] ;
        /*01b0*/                   STL.128 [R1+0x10], R4 ;
        /*01c0*/                   LDL R21, [R20] ;
        /*01d0*/                   REDG.E.ADD.F64.RN.STRONG.GPU desc[UR6][R4.64], R6 ;
.L_x_0:
        /*01e0*/                   STG.E.64 desc[UR6][R2.64], R4 ;
        /*01f0*/               @P0 BRA `(.L_x_0) ;
        /*0200*/                   EXIT ;
.L_x_2:
        /*0210*/                   BRA `(.L_x_2);
        /*0220*/                   NOP;
.L_x_11:
)";

TEST(ParseSass, counts_instructions_by_unit_and_accesses_by_width) {
  const auto kernels = parse_sass(kRecorded);
  ASSERT_EQ(kernels.size(), 1u);
  const SassStatistics& kernel = kernels.front();
  EXPECT_EQ(kernel.kernel, "vec(float4 const*, float4*, int)");
  EXPECT_EQ(kernel.instructions, 23);
  EXPECT_EQ(kernel.fp32, 1);
  EXPECT_EQ(kernel.fp64, 1);
  EXPECT_EQ(kernel.fp16, 1);
  EXPECT_EQ(kernel.tensor, 2);
  EXPECT_EQ(kernel.special_function, 1);
  EXPECT_EQ(kernel.integer, 2);  // LDC, IMAD
  EXPECT_EQ(kernel.control, 3);  // BAR, BRA, EXIT
  EXPECT_EQ(kernel.memory, 12);
  EXPECT_THAT(kernel.global_loads, ElementsAre(Pair(8, 1), Pair(128, 2)));
  EXPECT_THAT(kernel.global_stores, ElementsAre(Pair(64, 1)));
  EXPECT_THAT(kernel.shared_loads, ElementsAre(Pair(128, 2)));
  EXPECT_THAT(kernel.shared_stores, ElementsAre(Pair(128, 1)));
  EXPECT_EQ(kernel.async_copies, 1);
  EXPECT_EQ(kernel.bulk_copies, 2);
  EXPECT_EQ(kernel.local_loads, 1);
  EXPECT_EQ(kernel.local_stores, 1);
  EXPECT_EQ(kernel.atomics, 1);
  EXPECT_EQ(kernel.barriers, 1);
  EXPECT_EQ(kernel.branches, 1);
  EXPECT_THAT(kernel.tensor_instructions, ElementsAre(Pair("HMMA.16816.F32", 2)));
}

TEST(ParseSass, ties_inlined_instructions_to_the_line_that_calls) {
  const auto kernels = parse_sass(kRecorded);
  ASSERT_EQ(kernels.size(), 1u);
  const auto& lines = kernels.front().lines;
  ASSERT_THAT(lines, ElementsAre(Key(5), Key(8), Key(9)));
  EXPECT_EQ(lines.at(5).instructions, 1);
  EXPECT_EQ(lines.at(8).instructions, 5);
  EXPECT_EQ(lines.at(8).global_accesses, 2);
  EXPECT_EQ(lines.at(8).narrow_accesses, 1);
  EXPECT_EQ(lines.at(8).barriers, 1);
  EXPECT_EQ(lines.at(9).instructions, 17);
  EXPECT_EQ(lines.at(9).tensor, 2);
  EXPECT_EQ(lines.at(9).local, 2);
  EXPECT_EQ(lines.at(9).fp64, 1);
  EXPECT_EQ(lines.at(9).narrow_accesses, 0);
}

TEST(ParseSass, reads_the_layout_of_cuobjdump) {
  const auto kernels = parse_sass(
      "\tcode for sm_90a\n\t\tFunction : _Z1kPf\n\t.headerflags\t@\"EF_CUDA_SM90\"\n"
      "        /*0000*/                   LDG.E R5, desc[UR4][R16.64] ;            /* 0x0000000410057981 */\n"
      "                                                                            /* 0x000fe20003f0f070 */\n"
      "        /*0010*/               @P0 BRA 0x0 ;                                /* 0x0000000410057981 */\n"
      "        /*0020*/                   EXIT ;                                   /* 0x0000000410057981 */\n"
      "        /*0030*/                   BRA 0x30;                                /* 0x0000000410057981 */\n");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels.front().kernel, "k(float*)");
  EXPECT_EQ(kernels.front().instructions, 3);
  EXPECT_EQ(kernels.front().branches, 1);
}

TEST(ParseSass, makes_nothing_of_other_text) {
  EXPECT_TRUE(parse_sass("").empty());
  EXPECT_TRUE(parse_sass("no such file\n/*0000*/ LDG ;\n").empty());
  EXPECT_TRUE(parse_sass("\t.section\t.text.\n/**/;\n/*0*/ @P0;\n").empty());
}

TEST(Disassembler, that_is_missing_is_a_reason_and_no_error_of_the_candidate) {
  const auto statistics = disassemble({{}, "there is none"}, "/k.cubin");
  ASSERT_FALSE(statistics);
  EXPECT_EQ(statistics.error().message, "there is none");
}

using Disassembled = CudaFixture;

TEST_F(Disassembled, device_code_shows_its_accesses_and_their_lines) {
  const Disassembler disassembler = find_disassembler(options_.command.compiler.parent_path().parent_path());
  if (disassembler.program.empty()) GTEST_SKIP() << disassembler.reason;
  options_.command.options.push_back("-lineinfo");
  const CompileResult result = compile(
      "__global__ void copy(const float4* x, float4* y) {\n"
      "  y[threadIdx.x] = x[threadIdx.x];\n}\n"
      "void scale(const float* x, float* y, int, cudaStream_t s) {\n"
      "  copy<<<1, 32, 0, s>>>((const float4*)x, (float4*)y);\n}\n");
  ASSERT_EQ(result.outcome, Outcome::ok) << result.diagnostics;
  const auto statistics = disassemble(disassembler, last_work_ / kCubinName);
  ASSERT_TRUE(statistics) << statistics.error().message;
  ASSERT_EQ(statistics->size(), 1u);
  EXPECT_EQ(statistics->front().kernel, "copy(float4 const*, float4*)");
  EXPECT_THAT(statistics->front().global_loads, ElementsAre(Pair(128, 1)));
  EXPECT_THAT(statistics->front().global_stores, ElementsAre(Pair(128, 1)));
  ASSERT_TRUE(statistics->front().lines.contains(2));
  EXPECT_EQ(statistics->front().lines.at(2).global_accesses, 2);
}

}  // namespace
}  // namespace kagent::toolchain
