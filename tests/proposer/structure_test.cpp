// SPDX-License-Identifier: Apache-2.0
#include "proposer/structure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::proposer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Candidate candidate(const std::string& source) {
  return {source, {}, "test", {}};
}

const std::string kNaive =
    "#ifndef TILE\n#define TILE 16\n#endif\n"
    "__global__ void multiply(const float* a, const float* b, float* c, int n) {\n"
    "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "  int column = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  float sum = 0;\n"
    "  for (int k = 0; k < n; ++k) {\n"
    "    sum += a[row * n + k] * b[k * n + column];\n"
    "  }\n"
    "  c[row * n + column] = sum;\n"
    "}\n";

const std::string kTiled =
    "__global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, float* c, int n) {\n"
    "  __shared__ float4 tile[2][64];\n"
    "  float sums[4] = {};\n"
    "  for (int k0 = 0; k0 < n; k0 += 16) {\n"
    "    __pipeline_memcpy_async(&tile[0][threadIdx.x], &a[k0], 16);\n"
    "    __pipeline_wait_prior(0);\n"
    "    __syncthreads();\n"
    "#pragma unroll\n"
    "    for (int k = 0; k < 16; ++k)\n"
    "      for (int j = 0; j < 4; ++j) sums[j] += expf(b[k0 + k]);\n"
    "    __syncthreads();\n"
    "  }\n"
    "  atomicAdd(&c[threadIdx.x], __shfl_down_sync(~0u, sums[0], 1));\n"
    "}\n"
    "void run(const float* a, const float* b, float* c, int n) { multiply<<<n, 64>>>(a, b, c, n); }\n";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

double distance(const std::string& a, const std::string& b) {
  return structural_distance(structure_of(candidate(a)), structure_of(candidate(b)));
}

TEST(Structure, holds_what_a_source_is_made_of) {
  const Structure structure = structure_of(candidate(kTiled));
  EXPECT_EQ(structure.functions, 2);
  EXPECT_EQ(structure.kernels, 1);
  EXPECT_EQ(structure.launches, 1);
  EXPECT_THAT(structure.loops, ElementsAre(1, 1, 1, 0, 0, 0, 0, 0));
  EXPECT_EQ(structure.loop_depth, 3);
  EXPECT_EQ(structure.unrolled, 1);
  EXPECT_EQ(structure.vector_bytes, 16);
  EXPECT_EQ(structure.stages, 1);
  EXPECT_EQ(structure.barriers, 2);
  EXPECT_EQ(structure.atomics, 1);
  EXPECT_EQ(structure.shuffles, 1);
  EXPECT_EQ(structure.shared_arrays, 1);
  EXPECT_EQ(structure.local_arrays, 1);
  EXPECT_THAT(structure.spaces, ElementsAre("shared"));
  EXPECT_THAT(structure.means, UnorderedElementsAre("async-copy", "restrict"));
  EXPECT_THAT(structure.maths, ElementsAre("exponential"));
  EXPECT_THAT(structure.types, ElementsAre("float32"));
  EXPECT_THAT(structure.library_calls, IsEmpty());
  EXPECT_FALSE(structure.recursive);
}

TEST(Structure, reads_assembler_and_simd) {
  const Structure structure =
      structure_of(candidate("void f(float* y) { asm(\"cp.async.bulk.tensor.2d ...\"); asm "
                             "volatile(\"wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16\"); "
                             "__m256 v = _mm256_setzero_ps(); }"));
  EXPECT_THAT(structure.means, UnorderedElementsAre("tma", "tensor-core", "warpgroup-mma", "simd"));
  EXPECT_EQ(structure.vector_bytes, 32);
}

TEST(Structure, follows_calls_to_the_depth_of_loops) {
  const Structure structure = structure_of(candidate(
      "int dot(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i; return s; }\n"
      "int all(int n) { int s = 0; for (int i = 0; i < n; ++i) do { s += dot(i); } while (s < 9); return s; }\n"));
  EXPECT_THAT(structure.loops, ElementsAre(2, 1, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(structure.loop_depth, 3);
  EXPECT_TRUE(structure_of(candidate("int f(int n) { return n < 2 ? 1 : n * f(n - 1); }")).recursive);
  EXPECT_TRUE(
      structure_of(candidate("int g(int); int f(int n) { return g(n); } int g(int n) { return f(n); }")).recursive);
  EXPECT_FALSE(structure_of(candidate("int f(long n) { return n; } int f(int n) { return f(long(n)); }")).recursive);
}

TEST(Structure, takes_half_for_a_type_only_where_it_is_one) {
  EXPECT_THAT(structure_of(candidate("int f(int n) { int half = n / 2; return half * n; }")).types, IsEmpty());
  EXPECT_THAT(structure_of(candidate("void f(const half* x) {}")).types, ElementsAre("float16"));
  EXPECT_THAT(structure_of(candidate("void f() { half x; }")).types, ElementsAre("float16"));
}

TEST(Structure, takes_names_of_the_standard_library_only_where_they_are_meant) {
  EXPECT_THAT(structure_of(candidate("void f(int n) { for (int vector = 0; vector < n; ++vector) map(vector); }"))
                  .library_calls,
              IsEmpty());
  EXPECT_THAT(
      structure_of(candidate("void f(int n) { std::vector<int> v(n); std::sort(v.begin(), v.end()); malloc(n); }"))
          .library_calls,
      UnorderedElementsAre("vector", "sort", "malloc"));
}

TEST(Novelty, is_none_in_names_comments_layout_and_needless_words) {
  std::string other = replaced(replaced(kNaive, "column", "j"), "sum", "accumulator");
  other = "// Another idea.\n" + replaced(replaced(other, "  ", "\t"), "++k", "k++");
  other =
      replaced(replaced(other, "TILE 16", "TILE 32"), "float accumulator = 0", "float\naccumulator /* start */ = 0");
  EXPECT_EQ(distance(kNaive, other), 0) << other;
  const std::string braces = replaced(replaced(kNaive, "++k) {", "++k)"), "column];\n  }\n", "column];\n");
  EXPECT_EQ(distance(kNaive, braces), 0) << braces;
  EXPECT_EQ(near_duplicate(structure_of(candidate(other)),
                           {structure_of(candidate(kTiled)), structure_of(candidate(kNaive))}),
            1);
}

TEST(Novelty, is_in_tiling_staging_access_and_launch) {
  EXPECT_GT(distance(kNaive, kTiled), 0.3);
  EXPECT_LE(distance(kNaive, kTiled), 1);
  // Another order of access is another program, though every word is the same.
  EXPECT_GT(distance(kNaive, replaced(kNaive, "k * n + column", "column * n + k")), 0);
  Candidate a = candidate(kNaive), b = candidate(kNaive);
  Launch launch;
  for (auto* extents : {&launch.grid, &launch.block})
    for (Expression& extent : *extents) extent = *Expression::parse("1");
  a.launch = b.launch = launch;
  EXPECT_EQ(structural_distance(structure_of(a), structure_of(b)), 0);
  b.launch->block[0] = *Expression::parse("256");
  EXPECT_GT(structural_distance(structure_of(a), structure_of(b)), 0);
}

TEST(Novelty, grows_with_the_difference) {
  const std::string unrolled = replaced(kNaive, "  for (int k", "#pragma unroll\n  for (int k");
  EXPECT_GT(distance(kNaive, unrolled), 0);
  EXPECT_LT(distance(kNaive, unrolled), distance(kNaive, kTiled));
  EXPECT_EQ(distance(kNaive, kTiled), distance(kTiled, kNaive));
}

TEST(Novelty, of_two_small_edits_of_one_parent_is_judged_by_the_edits) {
  const Structure parent = structure_of(candidate(kNaive));
  const Structure a =
      structure_of(candidate(replaced(kNaive, "float sum = 0;", "float sum = 0; if (row >= n) return;")));
  const Structure b = structure_of(candidate(replaced(kNaive, "= sum;", "= sum * 2 + 1;")));
  const Structure again =
      structure_of(candidate(replaced(kNaive, "float sum = 0;", "float sum = 0; if (row >= n) { return; }")));
  EXPECT_EQ(near_duplicate(b, {a}, &parent), -1);
  EXPECT_EQ(near_duplicate(again, {b, a}, &parent), 1);
}

TEST(Structure, of_hostile_text_ends) {
  for (const char* unit :
       {"for(", "for(;;)", "{", "void f(){", "f(", "do ", "while(0)", "<<<", "#define a ", "asm(\""}) {
    std::string text = "void f() {";
    while (text.size() < 200'000) text += unit;
    (void)structure_of(candidate(text));
  }
}

}  // namespace
}  // namespace kagent::proposer
