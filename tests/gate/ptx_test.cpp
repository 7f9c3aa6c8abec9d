// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/device.h"
#include "gate/gate_fixture.h"

namespace kagent::gate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> rules_of_ptx(const std::string& text) {
  std::vector<std::string> rules;
  for (const PtxProblem& problem : ptx_problems(text)) rules.push_back(problem.rule);
  return rules;
}

TEST(Ptx, WhatKernelsAreWrittenWithIsTaken) {
  for (const char* text :
       {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};",
        "cp.async.cg.shared.global [%0], [%1], 16;\n", "cp.async.wait_group %0;",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];",
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0}, %1, %2, p, 1, 1;", "fma.rn.f32 %0, %1, %2, %3;",
        "{\n.reg .pred p;\nsetp.ne.b32 p, %1, 0;\n@p bra DONE;\n@!p mbarrier.arrive.shared.b64 _, [%0];\nDONE:\n}",
        "{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared.b64 P1, [%0], %1;\n@P1 bra DONE;\nbra "
        "LAB_WAIT;\nDONE:\n}",
        "LAB_%=: mov.u32 %0, %%laneid; // comment; trap\n", "/* trap; */ add.u32 %0, %1, 4;",
        "setmaxnreg.inc.sync.aligned.u32 232;", "", "ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%0,%1,%2,%3}, [%4];",
        "ex2.approx.ftz.f32 %0, %1;"})
    EXPECT_THAT(rules_of_ptx(text), ElementsAre()) << text;
}

TEST(Ptx, ClocksTrapsAndDirectivesAreRefused) {
  EXPECT_THAT(rules_of_ptx("mov.u64 %0, %%clock64;"), ElementsAre("device-clock"));
  EXPECT_THAT(rules_of_ptx("mov.u64 %0, %globaltimer;"), ElementsAre("device-clock"));
  EXPECT_THAT(rules_of_ptx("mov.u64 %0, %gridid;"), ElementsAre("device-clock"));
  EXPECT_THAT(rules_of_ptx("mov.u32 %0, %smid;"), IsEmpty());
  EXPECT_THAT(rules_of_ptx("nanosleep.u32 100;"), ElementsAre("device-clock"));
  EXPECT_THAT(rules_of_ptx("add.u32 %0, %0, 1; trap;"), ElementsAre("device-trap"));
  EXPECT_THAT(rules_of_ptx("@p exit;"), ElementsAre("device-trap"));
  EXPECT_THAT(rules_of_ptx("{ brkpt; }"), ElementsAre("device-trap"));
  EXPECT_THAT(rules_of_ptx(".incbin \"/golden/y.npy\""), ElementsAre("inline-assembly"));
  EXPECT_THAT(rules_of_ptx(".section .init_array"), ElementsAre("inline-assembly"));
  EXPECT_THAT(rules_of_ptx(".global .u32 counter;"), ElementsAre("inline-assembly"));
  EXPECT_THAT(rules_of_ptx("call vprintf, (p);"), ElementsAre("inline-assembly"));
  EXPECT_THAT(rules_of_ptx("rdtsc"), ElementsAre("inline-assembly"));
  EXPECT_THAT(rules_of_ptx("st.global.L2::evict_last.f32 [%0], %1;"), ElementsAre("cache-residency"));
}

TEST(Ptx, TheTextMustBeWrittenOut) {
  const auto rules = [](const std::string& inside) {
    return rules_of(inspect_kernel({kernel("", inside), {}, "t", {}}));
  };
  EXPECT_THAT(rules("asm volatile(\"add.u32 %0, %1, 4;\\n\\t\" \"mov.u32 %0, %1;\" : \"=r\"(a) : \"r\"(b));"),
              ElementsAre());
  EXPECT_THAT(rules("asm volatile(R\"(bar.sync 0;)\" ::: \"memory\");"), ElementsAre());
  EXPECT_THAT(rules("asm volatile(\"\" ::: \"memory\");"), ElementsAre());
  EXPECT_THAT(rules("asm(TEXT);"), Contains("inline-assembly"));
  EXPECT_THAT(rules("asm(\"add.u32 \" TEXT);"), Contains("inline-assembly"));
  EXPECT_THAT(rules("asm volatile(\"mov.u64 %0, %\" \"%clo\" \"ck64;\" : \"=l\"(t));"), Contains("device-clock"));
  EXPECT_THAT(rules("asm volatile(\"mov.u64 %0, %\\x63lock64;\" : \"=l\"(t));"), Contains("inline-assembly"));
  EXPECT_THAT(rules("asm"), Contains("inline-assembly"));
}

}  // namespace
}  // namespace kagent::gate
