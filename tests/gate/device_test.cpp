// SPDX-License-Identifier: Apache-2.0
// Style kernel: what device code may do, and the fakes of the known list that a look at it can catch.
#include "gate/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/gate_fixture.h"

namespace kagent::gate {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Rejection> look_at(const std::string& before, const std::string& inside = {}, const Rules& rules = {}) {
  return inspect_kernel({kernel(before, inside), {}, "test", {}}, rules);
}

void expect_caught(const char* rule, const std::string& before, const std::string& inside = {}) {
  const auto rejections = look_at(before, inside);
  EXPECT_THAT(rules_of(rejections), Contains(rule)) << before << inside << "\n" << in_words(rejections);
}

void expect_taken(const std::string& before, const std::string& inside = {}) {
  const auto rejections = look_at(before, inside);
  EXPECT_THAT(rejections, IsEmpty()) << before << inside << "\n" << in_words(rejections);
}

TEST(DeviceCode, HonestKernelsAreTaken) {
  expect_taken(
      "#include <cuda_bf16.h>\n#include <mma.h>\n#include <cooperative_groups.h>\n"
      "#include <cooperative_groups/reduce.h>\n#include <cuda/barrier>\n#include <cuda/std/limits>\n"
      "#include <cstdint>\n#include <cfloat>\nnamespace cg = cooperative_groups;");
  expect_taken(
      "template <int N> struct Tile { float v[N]; __device__ float sum() const { return v[0]; } };\n"
      "__device__ __forceinline__ float twice(float a) { return 2 * a; }\n"
      "static __device__ float thrice(float a) { return 3 * a; }\n"
      "constexpr int kWidth = 4;\nconstexpr int half(int n) { return n / 2; }\n"
      "namespace detail { template <class T> __device__ T zero() { return T(0); } }\n"
      "using vec = float4;\nenum class Mode { a, b };\n__constant__ float kTable[4] = {1, 2, 3, 4};");
  expect_taken(
      "",
      "extern __shared__ float buffer[];\n__shared__ float tile[32][33];\n__shared__ alignas(16) char raw[64];\n"
      "#pragma unroll\nfor (int k = 0; k < 4; ++k) buffer[k] = 0;\n__syncthreads();\n"
      "auto lambda = [&](float a) { return a + tile[0][0]; };\nint select = 1; float time = 0;");
  expect_taken("", "cg::thread_block block = cg::this_thread_block(); cg::sync(block); cg::wait(block);");
  expect_taken("",
               "unsigned mask = __ballot_sync(~0u, n > 1); float v = __shfl_xor_sync(~0u, x[0], 1); atomicAdd(y, v);");
}

TEST(DeviceCode, LaunchBoundsAndRestrictMayChange) {
  const Candidate candidate{
      "__global__ void __launch_bounds__(256, 2) __cluster_dims__(2) scale(const float* a, float* __restrict__ b, "
      "const "
      "int n) { b[0] = a[0]; }",
      {},
      "t",
      {}};
  EXPECT_THAT(rules_of(inspect_kernel(candidate)), IsEmpty()) << in_words(inspect_kernel(candidate));
}

TEST(DeviceCode, TheEntryKeepsItsParameters) {
  for (const char* parameters :
       {"const float* x, float* y", "const float4* x, float* y, int n", "float* y, const float* x, int n",
        "const float* x, float* y, int n, int m", "float* x, float* y, int n"})
    EXPECT_THAT(rules_of(inspect_kernel({"__global__ void scale(" + std::string(parameters) + ") {}", {}, "t", {}})),
                Contains("entry-changed"))
        << parameters;
  EXPECT_THAT(rules_of(inspect_kernel({"__device__ void scale(const float* x, float* y, int n) {}", {}, "t", {}})),
              Contains("entry-changed"));
  EXPECT_THAT(rules_of(inspect_kernel({"__global__ void other(const float* x, float* y, int n) {}", {}, "t", {}})),
              Contains("entry-missing"));
}

TEST(DeviceCode, AKernelBecomesATemplateOnlyWithItsInstance) {
  Candidate candidate{
      "template <class T, int N> __global__ void scale(const float* x, float* y, int n) {}", {}, "t", {}};
  EXPECT_THAT(rules_of(inspect_kernel(candidate)), Contains("entry-changed"));
  const Expression one = *Expression::parse("1");
  candidate.launch = Launch{{one, one, one}, {one, one, one}, {}, {}, "scale<float, 4>"};
  EXPECT_THAT(rules_of(inspect_kernel(candidate)), IsEmpty()) << in_words(inspect_kernel(candidate));
}

TEST(DeviceCode, AGeometryUsesSizesAndTunablesOnly) {
  const Expression one = *Expression::parse("1");
  Candidate candidate{kernel(""), {}, "t", {}};
  candidate.launch = Launch{{*Expression::parse("ceil_div(n, BLOCK * WIDTH)"), one, one}, {one, one, one}, {}, {}, ""};
  EXPECT_THAT(rules_of(inspect_kernel(candidate)), Contains("launch-geometry"));
  candidate.own_tunables.push_back({"WIDTH", {1, 2}});
  EXPECT_THAT(rules_of(inspect_kernel(candidate)), IsEmpty());
  candidate.launch->instance = "scale<1>; int x";
  EXPECT_THAT(rules_of(inspect_kernel(candidate)), Contains("launch-geometry"));
  // The parent's own text with another geometry is looked at as well.
  candidate.source = kKernelParent;
  EXPECT_THAT(rules_of(inspect_kernel(candidate)), Contains("launch-geometry"));
  EXPECT_THAT(rules_of(inspect({kParent, {}, "t", {}, candidate.launch}, kParent, KernelSpec{})),
              Contains("launch-geometry"));
}

TEST(DeviceRewardHack, host_code_is_smuggled_in) {
  expect_caught("host-code", "void prepare() { int a = 1; }");
  expect_caught("host-code", "__host__ __device__ void prepare() {}");
  expect_caught("host-code", "namespace a { static inline int prepare(int n) { return n; } }");
  expect_caught("foreign-include", "#include <thread>");
  expect_caught("foreign-include", "#include <cub/cub.cuh>");
  EXPECT_THAT(in_words(look_at("#include <cub/cub.cuh>", "", {})), HasSubstr(R"("libraries": ["cub"])"));
  EXPECT_THAT(look_at("#include <cub/cub.cuh>", "", {.libraries = {"cub"}}), IsEmpty());
}

TEST(DeviceRewardHack, a_memo_lives_in_a_device_or_static_global) {
  expect_caught("device-state", "__device__ int calls;");
  expect_caught("device-state", "__device__ float memo[4096] = {};");
  expect_caught("device-state", "__managed__ int calls;");
  expect_caught("device-state", "namespace a { static __device__ const float* last; }");
  expect_caught("static-state", "", "static int calls = 0;");
}

TEST(DeviceRewardHack, kernels_are_launched_from_the_device) {
  expect_caught("dynamic-parallelism", "", "scale<<<1, 32>>>(x, y, n);");
  expect_caught("dynamic-parallelism", "", "scale<<<1, 32, 0, cudaStreamFireAndForget>>>(x, y, n);");
  expect_caught("cuda-synchronise", "", "cudaDeviceSynchronize();");
}

TEST(DeviceRewardHack, clocks_are_read_or_waited_for) {
  expect_caught("forbidden-clock", "", "long long t = clock();");
  expect_caught("device-clock", "", "long long t = clock64();");
  expect_caught("device-clock", "", "__nanosleep(100);");
  expect_caught("device-clock", "", "unsigned long long t; asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(t));");
}

TEST(DeviceRewardHack, results_are_printed_or_the_device_is_stopped) {
  expect_caught("forbidden-output", "", "printf(\"time 0.1\");");
  expect_caught("device-trap", "", "__trap();");
  expect_caught("device-trap", "", "assert(n > 4);");
  expect_caught("device-trap", "", "asm(\"trap;\");");
}

TEST(DeviceRewardHack, memory_outlives_the_call) {
  expect_caught("device-heap", "", "float* p = static_cast<float*>(malloc(16));");
  expect_caught("device-heap", "", "float* p = new float[4];");
  expect_caught("cache-residency", "", "cuda::associate_access_property(x, cuda::access_property::persisting{});");
  expect_caught("cache-residency", "", "asm(\"prefetch.global.L2::evict_last [%0];\" :: \"l\"(x));");
}

TEST(DeviceRewardHack, memory_is_searched_for_the_reference_result) {
  expect_caught("forged-address", "", "y[0] = *reinterpret_cast<const float*>(0x7f0000001000);");
}

TEST(DeviceRewardHack, names_are_put_together_to_hide_them) {
  expect_caught("token-pasting", "#define JOIN(a, b) a##b", "long long t = JOIN(clock, 64)();");
  expect_caught("embedded-file", "#embed \"y.npy\"");
  expect_caught("absolute-include", "#include \"/golden/y.h\"");
}

TEST(DeviceCode, HostileTextEndsInRejectionsAndNotInACrash) {
  for (const std::string& text :
       {std::string("<<<"), std::string("asm("), std::string("__device__"), std::string("__global__ ("),
        std::string("asm(\""), std::string("#include <"), std::string(50'000, '<'), std::string(50'000, '{'),
        std::string("asm volatile ( \"@\" )")})
    EXPECT_FALSE(inspect_kernel({text, {}, "t", {}}).empty()) << text.substr(0, 20);
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "__device__ ";
  EXPECT_FALSE(inspect_kernel({many, {}, "t", {}}).empty());
}

}  // namespace
}  // namespace kagent::gate
