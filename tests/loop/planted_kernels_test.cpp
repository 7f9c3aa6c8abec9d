// SPDX-License-Identifier: Apache-2.0

// Kernels with one planted weakness each, compiled by the project's own toolchain: the patterns have to come out of
// what the assembler and the disassembler really say of them.

#include <algorithm>

#include <gmock/gmock.h>

#include "loop/code_facts.h"
#include "profiler/bottleneck.h"
#include "profiler/example.h"
#include "toolchain/cuda_fixture.h"
#include "util/files.h"

namespace kagent::loop {
namespace {

using profiler::LaunchShape;
using profiler::example::h200;
using profiler::example::streaming_spec;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using toolchain::SassStatistics;

constexpr profiler::Ceilings kCeilings{.flops_per_s = 60e12, .bytes_per_s = 4e12, .tensor_flops_per_s = 700e12};
constexpr LaunchShape kUsualShape{.block_threads = 256, .blocks = 100'000, .shared_bytes = 0};

// The product of two matrices of halves, which arithmetic limits.
KernelSpec product() {
  KernelSpec spec;
  spec.flops = *Expression::parse("2*n*n*n");
  spec.bytes = *Expression::parse("8*n*n");
  spec.tolerance["c"].contraction = true;
  Parameter a;
  a.name = "a";
  a.kind = ParameterKind::input;
  a.dtype = DType::float16;
  spec.parameters.push_back(a);
  return spec;
}

bool is_of(const std::string& readable, const std::string& kernel) {
  return readable.starts_with(kernel + "(");
}

profiler::Observed observed_of(const LaunchShape& shape, const CodeFacts& code) {
  profiler::Observed observed;
  observed.case_name = "planted";
  observed.sizes = {{"n", 4096}};
  observed.time_ns = 1e6;
  observed.counters_problem = "there is no device";
  observed.device = h200();
  observed.shape = shape;
  observed.others = code.numbers;
  observed.code = code.text;
  observed.code_reason = code.reason;
  observed.lines = code.lines;
  return observed;
}

std::vector<std::string> patterns_of(const profiler::Observed& observed, const KernelSpec& spec) {
  const Bottleneck bottleneck = profiler::summarise(spec, observed, kCeilings).value();
  std::vector<std::string> names;
  for (const Pattern& pattern : bottleneck.patterns) names.push_back(pattern.name);
  return names;
}

// What only the machine code shows, of either source of it.
void expect_patterns_of_code(const std::vector<SassStatistics>& kernels) {
  const auto patterns = [&kernels](const std::string& kernel, const KernelSpec& spec) {
    std::vector<SassStatistics> code;
    std::ranges::copy_if(kernels, std::back_inserter(code), [&](const auto& one) { return is_of(one.kernel, kernel); });
    EXPECT_EQ(code.size(), 1U) << kernel;
    profiler::Observed observed = observed_of(kUsualShape, facts_of(code));
    observed.usage = {{.kernel = kernel, .registers = 32}};  // none of them spills
    return patterns_of(observed, spec);
  };
  EXPECT_THAT(patterns("local_arrays", streaming_spec()), Contains("local-arrays-in-code"));
  EXPECT_THAT(patterns("narrow", streaming_spec()), Contains("narrow-loads-in-code"));
  EXPECT_THAT(patterns("narrow", streaming_spec()), Contains("narrow-stores-in-code"));
  EXPECT_THAT(patterns("wide", streaming_spec()), IsEmpty());
  EXPECT_THAT(patterns("in_double", streaming_spec()), Contains("fp64-in-code"));
  EXPECT_THAT(patterns("narrow", streaming_spec()), Not(Contains("fp64-in-code")));
  EXPECT_THAT(patterns("no_tensor", product()), Contains("no-tensor-instructions"));
  EXPECT_THAT(patterns("tensor", product()), Not(Contains("no-tensor-instructions")));
}

TEST(PlantedCode, that_was_recorded_shows_its_patterns) {
  const auto text = util::read_file(KAGENT_PLANTED "/kernels.sass");
  ASSERT_TRUE(text) << text.error().message;
  expect_patterns_of_code(toolchain::parse_sass(*text));
}

TEST(PlantedCode, tells_what_it_is_made_of_and_where_that_lies_in_the_source) {
  const auto text = util::read_file(KAGENT_PLANTED "/kernels.sass");
  ASSERT_TRUE(text) << text.error().message;
  auto kernels = toolchain::parse_sass(*text);
  std::erase_if(kernels, [](const SassStatistics& one) { return !is_of(one.kernel, "local_arrays"); });
  const CodeFacts local = facts_of(kernels, util::read_file(KAGENT_PLANTED "/kernels.cu").value_or(""));
  EXPECT_THAT(local.text, HasSubstr("local memory: 10"));
  EXPECT_THAT(local.text, HasSubstr("global stores: 1 of 32 bits"));
  ASSERT_FALSE(local.lines.empty());
  EXPECT_THAT(local.lines.front(), testing::StartsWith("line 19, 'for (int i = 0; i < n; ++i) held["));
  EXPECT_THAT(local.lines.front(), HasSubstr("accesses to local memory"));

  kernels = toolchain::parse_sass(*text);
  std::erase_if(kernels, [](const SassStatistics& one) { return !is_of(one.kernel, "tensor"); });
  EXPECT_THAT(facts_of(kernels).text, HasSubstr("tensor instructions: "));
  EXPECT_THAT(facts_of(kernels).text, HasSubstr("HMMA.16816.F32"));
}

TEST(PlantedCode, that_nothing_can_read_has_a_reason) {
  const util::TemporaryFolder folder("no-code");
  EXPECT_THAT(facts_of({}).reason, HasSubstr("no device code"));
  const CodeFacts missing = read_code(folder.path() / "none.cubin", folder.path() / "bin/nvcc");
  EXPECT_THAT(missing.text, IsEmpty());
  EXPECT_FALSE(missing.reason.empty());
}

class PlantedKernels : public toolchain::CudaFixture {
 protected:
  void SetUp() override {
    CudaFixture::SetUp();
    if (IsSkipped()) return;
    options_.command.options.emplace_back("-lineinfo");
    const auto source = util::read_file(KAGENT_PLANTED "/kernels.cu");
    ASSERT_TRUE(source) << source.error().message;
    const CompileResult compiled = compile(*source);
    ASSERT_EQ(compiled.outcome, Outcome::ok) << compiled.diagnostics;
    binary_ = compiled.binary;
  }

  // What the assembler alone tells of the kernel, launched like this.
  std::vector<std::string> patterns(const std::string& kernel, const LaunchShape& shape = kUsualShape) const {
    profiler::Observed observed = observed_of(shape, {});
    for (const DeviceUsage& usage : binary_.device_usage)
      if (is_of(usage.kernel, kernel)) observed.usage.push_back(usage);
    EXPECT_EQ(observed.usage.size(), 1U) << kernel;
    return patterns_of(observed, streaming_spec());
  }

  Binary binary_;
};

TEST_F(PlantedKernels, show_in_the_assemblers_report_what_they_spill_and_what_limits_their_warps) {
  EXPECT_THAT(patterns("spills"), Contains("spills-in-code"));
  EXPECT_THAT(patterns("many_registers"), Contains("occupancy-capped-by-registers"));
  EXPECT_THAT(patterns("large_shared", {.block_threads = 128, .blocks = 100'000, .shared_bytes = 0}),
              Contains("occupancy-capped-by-shared-memory"));
  EXPECT_THAT(patterns("large_shared", {.block_threads = 512, .blocks = 100'000, .shared_bytes = 0}),
              Not(Contains("occupancy-capped-by-shared-memory")));
  EXPECT_THAT(patterns("narrow", {.block_threads = 256, .blocks = 100'000, .shared_bytes = 100'000}),
              Contains("occupancy-capped-by-shared-memory"));
  EXPECT_THAT(patterns("narrow", {.block_threads = 32, .blocks = 100'000, .shared_bytes = 0}),
              Contains("occupancy-capped-by-block-size"));
  EXPECT_THAT(patterns("narrow", {.block_threads = 256, .blocks = 100, .shared_bytes = 0}), Contains("few-blocks"));
  EXPECT_THAT(patterns("narrow"), IsEmpty());
  EXPECT_THAT(patterns("wide"), IsEmpty());
}

TEST_F(PlantedKernels, show_in_their_machine_code_what_it_is_made_of) {
  const auto toolkit = nvcc().parent_path().parent_path();
  const auto disassembler = toolchain::find_disassembler(toolkit);
  if (disassembler.program.empty()) GTEST_SKIP() << disassembler.reason;
  const auto kernels = toolchain::disassemble(disassembler, device_code_of(binary_));
  ASSERT_TRUE(kernels) << kernels.error().message;
  expect_patterns_of_code(*kernels);
  const CodeFacts all = read_code(device_code_of(binary_), nvcc());
  EXPECT_THAT(all.reason, IsEmpty());
  EXPECT_THAT(all.lines, Contains(HasSubstr("accesses to local memory")));
}

}  // namespace
}  // namespace kagent::loop
