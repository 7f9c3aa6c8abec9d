// SPDX-License-Identifier: Apache-2.0
#include "toolchain/nvrtc_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toolchain/diagnostics.h"
#include "toolchain/nvrtc_toolchain.h"
#include "toolchain/nvrtc_worker/frame.h"

namespace kagent::toolchain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

NvrtcFlags flags_of(std::vector<std::string> options) {
  CompileCommand command;
  command.directory = "/build/dir";
  command.options = std::move(options);
  return nvrtc_flags(command);
}

TEST(NvrtcFlags, DefinitionsFoldersStandardAndArithmeticAreTaken) {
  EXPECT_THAT(flags_of({"-DA=1",
                        "-D",
                        "B",
                        "-UC",
                        "-I/x",
                        "-I",
                        "rel",
                        "-isystem",
                        "/y",
                        "-isystem=/z",
                        "--include-path=/w",
                        "-std=gnu++17",
                        "--use_fast_math",
                        "-maxrregcount=64",
                        "--fmad",
                        "false",
                        "-lineinfo",
                        "-Xptxas",
                        "-O2",
                        "--diag-suppress=20012"})
                  .taken,
              ElementsAre("-DA=1", "-DB", "-UC", "-I/x", "-I/build/dir/rel", "-I/y", "-I/z", "-I/w", "--std=c++17",
                          "--use_fast_math", "--maxrregcount=64", "--fmad=false", "--generate-line-info",
                          "--ptxas-options=-O2", "--diag-suppress=20012"));
}

TEST(NvrtcFlags, WhatNvrtcCannotTakeIsListed) {
  const NvrtcFlags flags =
      flags_of({"-O3", "-Xcompiler", "-fPIC", "-Xcompiler=-Wall", "-ccbin=g++", "-x", "cu", "--expt-relaxed-constexpr",
                "-rdc=true", "-std=c++23", "-Xptxas", "-dlcm=cg,--output=x"});
  EXPECT_THAT(flags.left_out, ElementsAre("-O3", "-Xcompiler", "-fPIC", "-Xcompiler=-Wall", "-ccbin=g++", "-x", "cu",
                                          "--expt-relaxed-constexpr", "-rdc=true", "-std=c++23", "-Xptxas=--output=x"));
  EXPECT_THAT(flags.taken, ElementsAre("--std=c++20", "--ptxas-options=-dlcm=cg"));
}

TEST(NvrtcFlags, ArchitecturesOfTheBuildAreReplaced) {
  const NvrtcFlags flags = flags_of({"--generate-code=arch=compute_90,code=[sm_90]", "-gencode", "arch=compute_80",
                                     "-arch=sm_90", "--gpu-code", "sm_90"});
  EXPECT_THAT(flags.taken, IsEmpty());
  EXPECT_THAT(flags.left_out, IsEmpty());
}

TEST(LeadingHeaders, StandBeforeEverythingThatCouldChangeThem) {
  EXPECT_THAT(leading_headers("#undef BLOCK\n#define BLOCK 4\n#line 1 \"a.cu\"\n// words\n/* more\n words */\n"
                              "#include <cub/block/block_reduce.cuh>  // why\n#include <cstdint>\n  # include <mma.h>\n"
                              "#ifndef BLOCK\n#define BLOCK 8\n#endif\n#include <cuda_fp16.h>\n"
                              "#define FAST\n#include <cuda_bf16.h>\n",
                              {"BLOCK"}),
              ElementsAre("cub/block/block_reduce.cuh", "mma.h", "cuda_fp16.h"));
  EXPECT_THAT(leading_headers("#include \"tile.h\"\n#include <mma.h>\n", {}), IsEmpty());
  EXPECT_THAT(leading_headers("#define __CUDA_NO_HALF_OPERATORS__\n#include <cuda_fp16.h>\n", {}), IsEmpty());
  EXPECT_THAT(leading_headers("#if 0\n#include <cuda_fp16.h>\n#endif\n", {}), IsEmpty());
  EXPECT_THAT(leading_headers("int x;\n#include <mma.h>\n", {}), IsEmpty());
  EXPECT_THAT(leading_headers("#include <mma.h", {}), IsEmpty());
}

TEST(GeometryText, DependsOnTheValuesThatTheGeometryUsesAndOnNoOther) {
  const auto expression = [](const char* text) { return *Expression::parse(text); };
  Launch launch{{expression("ceil_div(rows, BLOCK)"), expression("1"), expression("1")},
                {expression("BLOCK"), expression("1"), expression("1")},
                {},
                {},
                {}};
  const std::string text = geometry_text(launch, {{"BLOCK", 64}, {"WIDTH", 1}});
  EXPECT_EQ(text, geometry_text(launch, {{"BLOCK", 64}, {"WIDTH", 2}}));
  EXPECT_NE(text, geometry_text(launch, {{"BLOCK", 128}, {"WIDTH", 1}}));
  Launch spaced = launch;
  spaced.grid[0] = expression("ceil_div( rows,BLOCK )");
  EXPECT_EQ(text, geometry_text(spaced, {{"BLOCK", 64}}));
  Launch shared = launch;
  shared.shared_memory = expression("0");
  EXPECT_NE(text, geometry_text(shared, {{"BLOCK", 64}}));
  Launch cluster = launch;
  cluster.cluster = launch.grid;
  Launch more = launch;
  more.shared_memory = launch.grid[0];
  EXPECT_NE(geometry_text(cluster, {}), geometry_text(more, {}));
}

TEST(ValuesProbe, ReadsValuesOutOfTheMangledName) {
  EXPECT_EQ(values_instance({"BLOCK", "WIDTH"}), "kagent_values<BLOCK, WIDTH>");
  EXPECT_THAT(*read_values("_Z13kagent_valuesIJLx128ELxn4EEEvv", 2), ElementsAre(128, -4));
  EXPECT_FALSE(read_values("_Z13kagent_valuesIJLx128EEEvv", 2));
  EXPECT_FALSE(read_values("_Z13kagent_valuesIJLx12", 1));
  EXPECT_FALSE(read_values("_Z13kagent_valuesIJLx99999999999999999999999EEEvv", 1));
}

TEST(KernelParameterTypes, AreThoseOfTheFunctionAndNotOfItsArguments) {
  EXPECT_THAT(
      *kernel_parameter_types("void ops::f<(int)4, g<float (*)(int)> >(float const*, std::pair<int, int>, int)"),
      ElementsAre("float const*", "std::pair<int, int>", "int"));
  EXPECT_THAT(*kernel_parameter_types("f()"), IsEmpty());
  EXPECT_FALSE(kernel_parameter_types("plain_c_name"));
}

TEST(CountedSource, BeginsBehindWhatRenderingPutOnTop) {
  const std::string rendered = "#undef B\n#define B 1\n// launch: grid (1)\n#line 1 \"a.cu\"\ncode\n";
  EXPECT_EQ(counted_text(rendered, "a.cu"), "code\n");
  EXPECT_EQ(counted_text(rendered, "b.cu"), rendered);
  EXPECT_EQ(counted_text("#define B 1\ncode\n", "a.cu"), "#define B 1\ncode\n");
  EXPECT_EQ(counted_text(
                "#line 2 \"a_launch.h\"\nprelude\n#line 1 \"a.cu\"\n" + rendered + "#line 1 \"a_launch.cu\"\nlaunch\n",
                "a.cu"),
            "code\n");
}

TEST(Frame, ComesOutAsItWentInHoweverItIsCut) {
  const Frame sent{"{\"a\": 1}", std::string("\0\xFF binary", 9)};
  const std::string bytes = encode(sent) + encode({"", ""});
  std::string received;
  bool broken = false;
  std::vector<Frame> frames;
  for (const char byte : bytes) {
    received += byte;
    while (auto frame = take_frame(received, broken)) frames.push_back(*std::move(frame));
  }
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].json, sent.json);
  EXPECT_EQ(frames[0].bytes, sent.bytes);
  EXPECT_TRUE(frames[1].json.empty());
  EXPECT_FALSE(broken);
}

TEST(Frame, AnAbsurdLengthIsNoFrame) {
  std::string received = "\xFF\xFF\xFF\xFF\x01\x01\x01\x01garbage";
  bool broken = false;
  EXPECT_FALSE(take_frame(received, broken));
  EXPECT_TRUE(broken);
}

}  // namespace
}  // namespace kagent::toolchain
