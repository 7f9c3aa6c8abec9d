// SPDX-License-Identifier: Apache-2.0
#include "gate/change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/changed_lines.h"
#include "gate/gate_fixture.h"

namespace kagent::gate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

const std::string kScale =
    "#include <cmath>\n"
    "void scale(const float* x, float* y, int n) {\n"
    "  for (int i = 0; i < n; ++i) {\n"
    "    y[i] = std::exp(x[i]);\n"
    "  }\n"
    "}\n";

const std::string kKernel =
    "__global__ void scale_rows(const float* x, float* y, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = expf(x[i]);\n"
    "}\n"
    "void scale(const float* x, float* y, int n, cudaStream_t stream) {\n"
    "  scale_rows<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);\n"
    "}\n";

KernelSpec spec(const Rules& rules = {}) {
  KernelSpec result;
  result.entry = "scale";
  Parameter x, n;
  x.name = "x";
  n.name = "n";
  n.kind = ParameterKind::size;
  n.dtype = DType::int32;
  result.parameters = {x, n};
  result.rules = rules;
  return result;
}

std::vector<std::string> rules_for(const std::string& source, const std::string& parent = kScale,
                                   const Rules& rules = {}) {
  return rules_of(inspect_change({source, {}, "test", {}}, {parent, parent}, spec(rules)));
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

// Lines "f0();" to "f<count - 1>();" of a function.
std::string numbered(int count, const std::vector<int>& changed = {}) {
  std::string text = "void scale() {\n";
  for (int i = 0; i < count; ++i)
    text += (std::ranges::find(changed, i) == changed.end() ? "f" : "g") + std::to_string(i) + "();\n";
  return text + "}\n";
}

TEST(Change, counts_places_as_a_diff_with_three_lines_of_context_shows_them) {
  const std::string parent = numbered(60);
  const auto places = [&](const std::string& source) { return measure_drift(source, {parent, parent}).places; };
  EXPECT_EQ(places(parent), 0);
  EXPECT_EQ(places(numbered(60, {5})), 1);
  EXPECT_EQ(places(numbered(60, {5, 12})), 1);
  EXPECT_EQ(places(numbered(60, {5, 13})), 2);
  EXPECT_EQ(places(numbered(60, {0, 20, 40, 59})), 4);
  EXPECT_EQ(places("void scale() {}\n"), 1);
  EXPECT_EQ(measure_drift(numbered(60, {5, 13}), {parent, parent}).changed_lines, 4);
}

TEST(Change, does_not_count_comments_and_layout) {
  std::string laid_out;
  for (const char c : numbered(60)) laid_out += c == '\n' ? "  // comment\n\n" : std::string(1, c);
  const std::string parent = numbered(60);
  EXPECT_EQ(measure_drift(laid_out, {parent, parent}).places, 0);
}

TEST(Change, is_refused_beyond_the_places_that_the_rules_allow) {
  const std::string parent = numbered(60);
  EXPECT_THAT(rules_for(numbered(60, {0, 20, 40}), parent), IsEmpty());
  EXPECT_THAT(rules_for(numbered(60, {0, 20, 40, 59}), parent), ElementsAre("too-many-edits"));
  Rules rules;
  rules.max_edits = 4;
  EXPECT_THAT(rules_for(numbered(60, {0, 20, 40, 59}), parent, rules), IsEmpty());
}

TEST(Change, is_measured_against_the_parent_and_not_the_baseline) {
  const std::string baseline = numbered(60), parent = numbered(60, {0, 20, 40});
  EXPECT_THAT(inspect_change({numbered(60, {0, 20, 40, 59}), {}, "test", {}}, {baseline, parent}, spec()), IsEmpty());
}

TEST(Change, that_comes_from_a_second_parent_is_no_edit) {
  const std::string parent = numbered(80, {0, 20}), other = numbered(80, {40, 60, 79}),
                    child = numbered(80, {0, 20, 40, 60, 79});
  EXPECT_EQ(measure_drift(child, {parent, parent}).places, 3);
  EXPECT_EQ(measure_drift(child, {parent, parent, &other}).places, 0);
}

TEST(Change, of_values_alone_costs_nothing_and_passes) {
  Candidate candidate{kScale, {{"BLOCK", 3}}, "search", {}};
  Rules rules;
  rules.max_edits = 0;
  EXPECT_THAT(inspect_change(candidate, {kScale, kScale}, spec(rules)), IsEmpty());
  // Also where the parent is a variant and the candidate goes on from the baseline.
  EXPECT_THAT(inspect_change(candidate, {kScale, numbered(60)}, spec(rules)), IsEmpty());
}

TEST(Change, that_tiles_unrolls_vectorises_stages_or_fuses_is_no_other_algorithm) {
  const std::string body = "  for (int i = 0; i < n; ++i) {\n    y[i] = std::exp(x[i]);\n  }\n";
  for (const std::string& faster : {
           std::string(
               "  for (int i0 = 0; i0 < n; i0 += 64)\n    for (int i = i0; i < std::min(n, i0 + 64); ++i) y[i] = "
               "std::exp(x[i]);\n"),
           std::string("  int i = 0;\n  for (; i + 1 < n; i += 2) {\n    y[i] = expf(x[i]);\n    y[i + 1] = "
                       "expf(x[i + 1]);\n  }\n  if (i < n) y[i] = expf(x[i]);\n"),
           std::string(
               "  float half[64];\n  #pragma omp simd\n  for (int i = 0; i < n; ++i) y[i] = half[0] = exp2f(x[i] * "
               "1.4426950408889634f);\n"),
           std::string("  int i = 0;\n  while (i < n) { y[i] = std::exp(x[i]); ++i; }\n"),
       })
    EXPECT_THAT(rules_for(replaced(kScale, body, faster)), IsEmpty()) << faster;
  const std::string tiled =
      "__global__ void scale_rows(const float* __restrict__ x, float* __restrict__ y, int n) {\n"
      "  __shared__ float4 tile[2][256];\n"
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {\n"
      "    tile[0][threadIdx.x] = reinterpret_cast<const float4*>(x)[i];\n"
      "    __syncthreads();\n"
      "    float4 v = tile[0][threadIdx.x];\n"
      "    v.x = __expf(v.x);\n"
      "    reinterpret_cast<float4*>(y)[i] = v;\n"
      "  }\n"
      "}\n";
  EXPECT_THAT(rules_for(tiled + kKernel.substr(kKernel.find("void scale(")), kKernel), IsEmpty());
}

TEST(Change, of_the_algorithm_is_refused_with_its_reason) {
  const auto with = [](const std::string& expression) { return replaced(kScale, "std::exp(x[i])", expression); };
  EXPECT_THAT(rules_for(with("1 + x[i] * (1 + x[i] * 0.5f)")), ElementsAre("algorithm-functions"));
  EXPECT_THAT(rules_for(with("std::exp(std::log(x[i]))")), ElementsAre("algorithm-functions"));
  EXPECT_THAT(rules_for(with("(_Float16)std::exp(x[i])")), ElementsAre("algorithm-precision"));
  EXPECT_THAT(rules_for(replaced(kKernel, "expf(x[i])", "__bfloat162float(__nv_bfloat16(expf(x[i])))"), kKernel),
              ElementsAre("algorithm-precision"));
  EXPECT_THAT(rules_for(replaced(kKernel, "y[i] = expf(x[i])", "atomicAdd(&y[i], expf(x[i]))"), kKernel),
              ElementsAre("algorithm-atomics"));
  EXPECT_THAT(rules_for(replaced(kScale, "  for", "  std::sort(y, y + n);\n  for")), ElementsAre("algorithm-library"));
  EXPECT_THAT(rules_for(replaced(kScale, "  for", "  if (n > 8) return scale(x, y, n / 2);\n  for")),
              ElementsAre("algorithm-recursion"));
  EXPECT_THAT(rules_for(replaced(kScale, "for (int i = 0; i < n; ++i) {\n    y[i]", "{\n    y[0]")),
              ElementsAre("algorithm-loops"));
  const auto rejections = inspect_change({with("x[i]"), {}, "test", {}}, {kScale, kScale}, spec());
  ASSERT_EQ(rejections.size(), 1u);
  EXPECT_THAT(rejections[0].message, HasSubstr("exponential"));
  EXPECT_THAT(rejections[0].message, HasSubstr("allow_algorithm_change"));
}

TEST(Change, of_the_algorithm_passes_where_the_rules_or_an_ancestor_have_it) {
  const std::string source = replaced(kScale, "std::exp(x[i])", "std::exp(std::log(x[i]))");
  Rules rules;
  rules.allow_algorithm_change = true;
  EXPECT_THAT(rules_for(source, kScale, rules), IsEmpty());
  EXPECT_THAT(inspect_change({source, {}, "test", {}}, {source, kScale}, spec()), IsEmpty());
  const std::string other = source + "\n// another";
  EXPECT_THAT(inspect_change({source + "\nint a;", {}, "test", {}}, {other, kScale}, spec()), IsEmpty());
  Rules unordered;
  unordered.allow_nondeterminism = true;
  EXPECT_THAT(rules_for(replaced(kKernel, "y[i] = expf(x[i])", "atomicAdd(&y[i], expf(x[i]))"), kKernel, unordered),
              IsEmpty());
}

TEST(Change, refuses_tunables_that_replace_names_or_are_never_used) {
  const auto rules = [](const std::string& name) {
    Candidate candidate{kScale + "int size = TILE;\n", {}, "test", {}};
    candidate.own_tunables = {{name, {1, 2}}};
    return rules_of(inspect_change(candidate, {kScale, kScale}, spec()));
  };
  EXPECT_THAT(rules("TILE"), IsEmpty());
  EXPECT_THAT(rules("UNROLL"), ElementsAre("tunable-unused"));
  for (const char* name : {"n", "scale", "float", "for", "__CUDA_ARCH__", "_GNU_SOURCE", "int", "threadIdx"})
    EXPECT_THAT(rules(name), ElementsAre("tunable-name")) << name;
}

TEST(Change, is_told_as_differences_of_structure) {
  const std::string source = replaced(
      kKernel, "  if (i < n)", "  __shared__ float s[256];\n  s[threadIdx.x] = 0;\n  __syncthreads();\n  if (i < n)");
  EXPECT_THAT(measure_drift(source, {kKernel, kKernel}).differences,
              IsSupersetOf({"barriers 0 -> 1", "memory shared: new"}));
}

TEST(ChangedLines, are_the_shortest_script) {
  const auto script = [](const std::vector<std::string>& before, const std::vector<std::string>& after) {
    std::string text;
    for (const LineStep& step : compare_lines(before, after))
      text += step.kind == LineStep::Kind::same      ? "=" + after[step.line]
              : step.kind == LineStep::Kind::removed ? "-" + before[step.line]
                                                     : "+" + after[step.line];
    return text;
  };
  EXPECT_EQ(script({"a", "b", "c"}, {"a", "b", "c"}), "=a=b=c");
  EXPECT_EQ(script({}, {"a"}), "+a");
  EXPECT_EQ(script({"a"}, {}), "-a");
  EXPECT_EQ(script({"a", "b", "c"}, {"a", "c"}), "=a-b=c");
  EXPECT_EQ(script({"a", "b", "c", "d"}, {"x", "b", "d", "y"}).size(), 12u);
}

TEST(ChangedLines, turn_one_text_into_the_other_whatever_they_are) {
  std::uint64_t state = 1;
  const auto below = [&](std::uint64_t most) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % most;
  };
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> before, after;
    for (std::uint64_t i = below(20); i > 0; --i) before.push_back(std::to_string(below(5)));
    for (std::uint64_t i = below(20); i > 0; --i) after.push_back(std::to_string(below(5)));
    std::vector<std::string> result;
    std::size_t at = 0;
    for (const LineStep& step : compare_lines(before, after)) {
      if (step.kind == LineStep::Kind::removed) {
        EXPECT_EQ(step.line, at++);
        continue;
      }
      result.push_back(after[step.line]);
      EXPECT_TRUE(step.kind == LineStep::Kind::added || before[at++] == after[step.line]);
    }
    EXPECT_EQ(at, before.size());
    EXPECT_EQ(result, after);
  }
}

TEST(Change, between_huge_texts_ends) {
  std::string before, after;
  for (int i = 0; i < 20'000; ++i) before += "a" + std::to_string(i) + ";\n", after += "b" + std::to_string(i) + ";\n";
  EXPECT_EQ(measure_drift(after, {before, before}).places, 1);
  const std::string nested(100'000, '{'), loops = [] {
    std::string text = "void f() {";
    for (int i = 0; i < 20'000; ++i) text += "for(;;)";
    return text + ";}";
  }();
  EXPECT_EQ(measure_drift(nested, {loops, loops}).places, 1);
}

}  // namespace
}  // namespace kagent::gate
