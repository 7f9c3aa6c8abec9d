// SPDX-License-Identifier: Apache-2.0
// NVRTC itself, in its sandboxed workers. It needs no device.
#include "toolchain/nvrtc_toolchain.h"

#include <csignal>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toolchain/nvrtc_pool.h"
#include "util/files.h"
#include "values/candidate.h"

namespace kagent::toolchain {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// More than a second of optimisation, and far more without a limit.
constexpr const char* kEndless =
    "__global__ void scale(const float* x, float* y, int n) {\n#pragma unroll\n  for (int i = 0; i < 400; ++i)\n"
    "#pragma unroll\n    for (int j = 0; j < 400; ++j) y[i * j] = y[i + j] * x[j] + sinf(x[i]);\n}\n";

constexpr const char* kScale = R"(#ifndef BLOCK
#define BLOCK 128
#endif
template <class T, int N>
__global__ void scale(const T* __restrict__ x, T* y, int n) {
  __shared__ T tile[N];
  const int i = blockIdx.x * N + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : T(0);
  __syncthreads();
  if (i < n) y[i] = 2 * tile[N - 1 - threadIdx.x];
}
)";

class Nvrtc : public ::testing::Test {
 protected:
  Nvrtc() {
    options_.command.compiler = KAGENT_TEST_NVCC;
    options_.command.directory = folder_.path();
    options_.source = folder_.path() / "project" / "scale.cu";
    options_.worker = KAGENT_TEST_NVRTC_WORKER;
    options_.entry = "scale";
    options_.architecture = "sm_90a";
    options_.workers = 2;
    options_.allow_unsandboxed = true;
    fs::create_directories(folder_.path() / "project/golden");
    options_.visible = {folder_.path() / "project"};
    options_.covered = {folder_.path() / "project/golden"};
    add("x", ParameterKind::input, DType::float32);
    add("y", ParameterKind::output, DType::float32);
    add("n", ParameterKind::size, DType::int32);
  }

  void add(const std::string& name, ParameterKind kind, DType dtype) {
    Parameter parameter;
    parameter.name = name;
    parameter.kind = kind;
    parameter.dtype = dtype;
    options_.parameters.push_back(std::move(parameter));
  }
  static Launch launch(const std::string& block = "BLOCK", const std::string& instance = "") {
    const Expression one = *Expression::parse("1");
    return {{*Expression::parse("ceil_div(n, " + block + ")"), one, one},
            {*Expression::parse(block), one, one},
            {},
            {},
            instance};
  }
  Toolchain& toolchain() {
    if (!toolchain_) toolchain_ = make_nvrtc_toolchain(options_);
    return *toolchain_;
  }
  CompileResult compile(const std::string& source, const Launch& geometry, TunableValues tunables = {}) {
    CompileJob job{source, fresh_folder(), geometry, std::move(tunables)};
    auto result = toolchain().compile(job);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? *std::move(result) : CompileResult{};
  }
  fs::path fresh_folder() {
    fs::path path = folder_.path() / ("work" + std::to_string(jobs_++));
    fs::create_directories(path);
    return path;
  }

  util::TemporaryFolder folder_;
  NvrtcToolchainOptions options_;
  std::unique_ptr<Toolchain> toolchain_;
  std::atomic<int> jobs_ = 0;
};

TEST_F(Nvrtc, ATemplateIsCompiledByItsNameExpression) {
  const CompileResult result = compile(kScale, launch("BLOCK", "scale<float, BLOCK>"));
  ASSERT_EQ(result.outcome, Outcome::ok) << result.diagnostics;
  EXPECT_THAT(result.binary.symbol, StartsWith("_Z5scaleIfLi128EEv"));
  EXPECT_EQ(result.binary.architecture, "sm_90a");
  EXPECT_EQ(result.binary.tunables.at("BLOCK"), 128) << "the source's own value";
  EXPECT_THAT(util::read_file(result.binary.cubin).value(), StartsWith("\x7f"
                                                                       "ELF"));
  ASSERT_EQ(result.binary.device_usage.size(), 1U);
  EXPECT_EQ(result.binary.device_usage[0].shared_bytes, 512);
  EXPECT_GT(result.binary.device_usage[0].registers, 0);
  EXPECT_EQ(result.diagnostics, "");
}

TEST_F(Nvrtc, TheHashIsOfTheCodeAndItsGeometry) {
  const std::string plain =
      "__global__ void scale(const float* x, float* y, int n) { y[blockIdx.x] = x[blockIdx.x]; }\n";
  const auto hash = [&](const std::string& block, TunableValues tunables) {
    const CompileResult result = compile(plain, launch(block), std::move(tunables));
    EXPECT_EQ(result.outcome, Outcome::ok) << result.diagnostics;
    return result.binary.object_hash;
  };
  const std::string first = hash("BLOCK", {{"BLOCK", 64}, {"UNUSED", 1}});
  EXPECT_EQ(first, hash("BLOCK", {{"BLOCK", 64}, {"UNUSED", 2}}));
  EXPECT_NE(first, hash("BLOCK", {{"BLOCK", 128}, {"UNUSED", 1}}));
  EXPECT_EQ(first, hash("64", {}));
}

TEST_F(Nvrtc, ErrorsAreToldWithTheirLines) {
  const CompileResult result = compile(
      "#undef BLOCK\n#define BLOCK 64\n#line 1 \"scale.cu\"\n\n"
      "__global__ void scale(const float* x, float* y, int n) {\n  y[0] = missing;\n}\n",
      launch(), {{"BLOCK", 64}});
  EXPECT_EQ(result.outcome, Outcome::compile_failed);
  EXPECT_THAT(result.diagnostics, HasSubstr("missing"));
  EXPECT_THAT(result.diagnostics, HasSubstr("scale.cu"));
  EXPECT_THAT(result.diagnostics, HasSubstr("3"));
}

TEST_F(Nvrtc, AKernelThatTakesSomethingElseIsRefused) {
  EXPECT_THAT(compile("__global__ void scale(const double* x, float* y, int n) {}\n", launch("64")).diagnostics,
              HasSubstr("parameter 1: 'x' is an input of float32, but the function takes 'double const*'"));
  EXPECT_THAT(compile("__global__ void scale(float* x, float* y, int n) {}\n", launch("64")).diagnostics,
              HasSubstr("which is no pointer to const"));
  EXPECT_THAT(compile("__global__ void scale(const float* x, float* y) {}\n", launch("64")).diagnostics,
              HasSubstr("takes 2 parameters, kernel.json lists 3"));
}

TEST_F(Nvrtc, AGeometryOverNoMacroOfTheSourceIsExplained) {
  EXPECT_THAT(compile("__global__ void scale(const float* x, float* y, int n) {}\n", launch("WIDTH")).diagnostics,
              HasSubstr("the geometry uses 'WIDTH', which the source does not define"));
}

TEST_F(Nvrtc, AnInstanceOfAnotherFunctionIsRefused) {
  EXPECT_THAT(compile(kScale, launch("BLOCK", "other<float>")).diagnostics, HasSubstr("is no instance of 'scale'"));
}

TEST_F(Nvrtc, ConstantInputsAreNotPassed) {
  add("taps", ParameterKind::input, DType::float32);
  options_.parameters.back().constant_memory = true;
  const CompileResult result = compile(
      "__constant__ float taps[9];\n"
      "__global__ void scale(const float* x, float* y, int n) { y[threadIdx.x] = x[0] * taps[threadIdx.x % 9]; }\n",
      launch("64"));
  EXPECT_EQ(result.outcome, Outcome::ok) << result.diagnostics;
  EXPECT_EQ(result.binary.constant_symbols.at("taps"), "taps");
}

TEST_F(Nvrtc, ConstantInputsAreKnownByTheirNamesInTheCode) {
  options_.entry = "ops::inner::scale";
  add("taps", ParameterKind::input, DType::float32);
  options_.parameters.back().constant_memory = true;
  const std::string kernel =
      "__global__ void scale(const float* x, float* y, int n) { y[threadIdx.x] = x[0] TAPS; }\n}\n";
  const CompileResult used =
      compile("#define TAPS *taps[threadIdx.x % 9]\nnamespace ops::inner {\n__constant__ float taps[9];\n" + kernel,
              launch("64"));
  ASSERT_EQ(used.outcome, Outcome::ok) << used.diagnostics;
  const std::string symbol = used.binary.constant_symbols.at("taps");
  EXPECT_EQ(symbol, "_ZN3ops5inner4tapsE");
  EXPECT_THAT(util::read_file(used.binary.cubin).value(), HasSubstr(std::string(1, '\0') + symbol + '\0'));
  const CompileResult unused =
      compile("#define TAPS\nnamespace ops::inner {\n__constant__ float taps[9];\n" + kernel, launch("64"));
  ASSERT_EQ(unused.outcome, Outcome::ok) << unused.diagnostics;
  EXPECT_THAT(util::read_file(unused.binary.cubin).value(), HasSubstr(std::string(1, '\0') + symbol + '\0'));
  const CompileResult around = compile(
      "#define TAPS * taps[0]\nnamespace ops {\n__constant__ float taps[9];\n}\n"
      "namespace ops::inner {\n" +
          kernel,
      launch("64"));
  ASSERT_EQ(around.outcome, Outcome::ok) << around.diagnostics;
  EXPECT_EQ(around.binary.constant_symbols.at("taps"), "_ZN3ops4tapsE");
  const CompileResult missing = compile("#define TAPS\nnamespace ops::inner {\n" + kernel, launch("64"));
  EXPECT_EQ(missing.outcome, Outcome::compile_failed);
  EXPECT_THAT(missing.diagnostics, HasSubstr("taps"));
}

TEST_F(Nvrtc, ConstantInputsLieEachInANamespaceOfItsOwn) {
  options_.entry = "ops::inner::scale";
  for (const char* name : {"bias", "gain", "taps", "hidden"}) {
    add(name, ParameterKind::input, DType::float32);
    options_.parameters.back().constant_memory = true;
  }
  const CompileResult result = compile(
      "__constant__ float bias[1];\nnamespace ops {\n__constant__ float gain[1];\nnamespace inner {\n"
      "namespace {\n__constant__ float hidden[1];\n}\nstatic __constant__ float taps[9];\n"
      "__global__ void scale(const float* x, float* y, int n) {\n"
      "  y[threadIdx.x] = x[0] * taps[threadIdx.x % 9] * gain[0] + bias[0] + hidden[0];\n}\n}\n}\n",
      launch("64"));
  ASSERT_EQ(result.outcome, Outcome::ok) << result.diagnostics;
  EXPECT_EQ(result.binary.constant_symbols.at("bias"), "bias");
  EXPECT_EQ(result.binary.constant_symbols.at("gain"), "_ZN3ops4gainE");
  const std::string code = util::read_file(result.binary.cubin).value();
  for (const auto& [name, symbol] : result.binary.constant_symbols)
    EXPECT_THAT(code, HasSubstr(std::string(1, '\0') + symbol + '\0')) << name;
}

TEST_F(Nvrtc, WhatNoDeviceCanLaunchIsBeyondTheLimits) {
  const CompileResult shared = compile(
      "__global__ void scale(const float* x, float* y, int n) {\n  __shared__ float tile[12289];\n"
      "  tile[threadIdx.x] = x[threadIdx.x];\n  __syncthreads();\n  y[threadIdx.x] = tile[n];\n}\n",
      launch("64"));
  EXPECT_EQ(shared.outcome, Outcome::limits_exceeded);
  EXPECT_THAT(shared.diagnostics, HasSubstr("49156 bytes of static shared memory; the limit on sm_90a is 49152"));
  const std::string many =
      "__global__ void scale(const float* x, float* y, int n) {\n  float kept[100];\n#pragma unroll\n"
      "  for (int i = 0; i < 100; ++i) kept[i] = x[i * n + threadIdx.x];\n  __syncthreads();\n#pragma unroll\n"
      "  for (int i = 0; i < 100; ++i) y[i * n + threadIdx.x] = kept[i] * kept[(i * 7 + 3) % 100];\n}\n";
  const CompileResult registers = compile(many, launch("BLOCK"), {{"BLOCK", 1024}});
  EXPECT_EQ(registers.outcome, Outcome::limits_exceeded);
  EXPECT_THAT(registers.diagnostics, HasSubstr("registers a thread, "));
  EXPECT_THAT(registers.diagnostics, HasSubstr("for a block of 1024 threads; the limit on sm_90a is 65536"));
  EXPECT_THAT(compile(many, launch("BLOCK"), {{"BLOCK", 2048}}).diagnostics, HasSubstr("2048 threads a block"));
  const CompileResult of_size = compile(many, launch("n"));
  EXPECT_EQ(of_size.outcome, Outcome::ok) << "the block is known at the call only: " << of_size.diagnostics;
}

TEST_F(Nvrtc, HeadersOfTheToolkitAndTheUsualOnesOfTheLibraryAreFound) {
  const CompileResult result = compile(
      "#include <cooperative_groups.h>\n#include <cub/cub.cuh>\n#include <cuda_fp16.h>\n#include <mma.h>\n"
      "#include <cfloat>\n#include <cmath>\n#include <cstddef>\n#include <cstdint>\n#include <limits>\n"
      "constexpr int twice(int n) { return 2 * n; }\n"
      "__global__ void scale(const float* x, float* y, std::int32_t n) {\n"
      "  using Reduce = cub::BlockReduce<float, 64>;\n  __shared__ typename Reduce::TempStorage storage;\n"
      "  const float sum = Reduce(storage).Sum(std::sqrt(x[threadIdx.x]));\n"
      "  if (threadIdx.x == 0) y[0] = std::fmax(sum, -FLT_MAX) + __half2float(__float2half(twice(n)));\n}\n",
      launch("64"));
  EXPECT_EQ(result.outcome, Outcome::ok) << result.diagnostics;
}

TEST_F(Nvrtc, WhatIsCoveredCannotBeRead) {
  if (!util::sandbox_state().available) GTEST_SKIP() << util::sandbox_state().description;
  ASSERT_TRUE(util::write_file_atomically(folder_.path() / "project/golden/secret.h", "#define SECRET 42\n"));
  ASSERT_TRUE(util::write_file_atomically(folder_.path() / "project/tile.h", "#define TILE 42\n"));
  const std::string kernel = "__global__ void scale(const float* x, float* y, int n) {}\n";
  EXPECT_EQ(compile("#include \"tile.h\"\n" + kernel, launch("64")).outcome, Outcome::ok);
  const CompileResult result = compile("#include \"golden/secret.h\"\n" + kernel, launch("64"));
  EXPECT_EQ(result.outcome, Outcome::compile_failed);
  EXPECT_THAT(result.diagnostics, HasSubstr("golden/secret.h"));
  EXPECT_EQ(compile("#include \"/etc/passwd\"\n" + kernel, launch("64")).outcome, Outcome::compile_failed);
}

TEST_F(Nvrtc, ACompilationWithoutEndIsStoppedAndTheNextOneRuns) {
  options_.time_limit = std::chrono::milliseconds(1500);
  const CompileResult result = compile(kEndless, launch("64"));
  EXPECT_EQ(result.outcome, Outcome::compile_failed);
  EXPECT_THAT(result.diagnostics, HasSubstr("took longer than 1500 ms"));
  toolchain_.reset();
  options_.time_limit = std::chrono::minutes(1);
  EXPECT_EQ(compile("__global__ void scale(const float* x, float* y, int n) {}\n", launch("64")).outcome, Outcome::ok);
}

TEST_F(Nvrtc, EightJobsAtOnceGiveTheSameAsOne) {
  const Launch geometry = launch("BLOCK", "scale<float, BLOCK>");
  toolchain();
  std::vector<std::future<std::string>> jobs;
  for (int i = 0; i < 8; ++i)
    jobs.push_back(std::async(std::launch::async, [&] { return compile(kScale, geometry).binary.object_hash; }));
  const std::string expected = compile(kScale, geometry).binary.object_hash;
  EXPECT_FALSE(expected.empty());
  for (auto& job : jobs) EXPECT_EQ(job.get(), expected);
}

TEST_F(Nvrtc, FlagsSayWhatWasLeftOut) {
  options_.command.options = {"-DFAST", "-Xcompiler", "-fPIC"};
  EXPECT_THAT(toolchain().flags(), HasSubstr("-DFAST"));
  EXPECT_THAT(toolchain().flags(), HasSubstr("(without -Xcompiler -fPIC)"));
}

TEST_F(Nvrtc, WithoutItsWorkerOrItsGeometryNothingIsCompiled) {
  CompileJob job{"", fresh_folder(), {}, {}};
  EXPECT_THAT(toolchain().compile(job).error().message, HasSubstr("without its launch geometry"));
  toolchain_.reset();
  options_.worker = folder_.path() / "no-worker";
  job.launch = launch("64");
  EXPECT_THAT(toolchain().compile(job).error().message, HasSubstr("no-worker' does not exist"));
}

class Pool : public ::testing::Test {
 protected:
  Pool() {
    options_.worker = KAGENT_TEST_NVRTC_WORKER;
    options_.workers = 1;
    options_.allow_unsandboxed = true;
    options_.view.read_only = {options_.worker.parent_path()};
    const fs::path libraries = fs::canonical(KAGENT_TEST_CUDA_LIBRARIES);
    if (!libraries.string().starts_with("/usr/")) options_.view.read_only.push_back(libraries);
  }
  WorkerPoolOptions options_;
  const WorkerJob plain_{"a.cu", "extern \"C\" __global__ void f() {}", {"-arch=sm_90"}, "f", {}};
};

TEST_F(Pool, AWorkerThatIsKilledCostsItsJobAndIsReplaced) {
  WorkerPool pool(options_);
  auto lost = std::async(std::launch::async, [&] { return pool.compile({"a.cu", kEndless, {"-arch=sm_90"}, "", {}}); });
  while (pool.processes().empty()) std::this_thread::yield();
  ASSERT_EQ(::kill(pool.processes().front(), SIGKILL), 0);
  const auto answer = lost.get();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_FALSE(answer->ok);
  EXPECT_THAT(answer->problem, HasSubstr("was ended by Killed"));
  EXPECT_TRUE(pool.processes().empty());
  EXPECT_TRUE(pool.compile(plain_)->ok);
}

TEST_F(Pool, OneWorkerServesManyJobs) {
  WorkerPool pool(options_);
  ASSERT_TRUE(pool.compile(plain_)->ok);
  const std::vector<int> processes = pool.processes();
  EXPECT_EQ(pool.compile(plain_)->lowered_name, "f");
  EXPECT_FALSE(pool.compile({"a.cu", "no code", {"-arch=sm_90"}, "", {}})->ok);
  EXPECT_EQ(pool.processes(), processes);
}

TEST_F(Pool, TellsTheVersionOfNvrtc) {
  EXPECT_THAT(WorkerPool(options_).version().value(), ::testing::MatchesRegex("[0-9]+\\.[0-9]+"));
}

TEST_F(Pool, OptionsThatWriteFilesAreRefused) {
  WorkerPool pool(options_);
  for (const char* option : {"--create-pch=/tmp/x", "--time=/tmp/x", "--ptxas-options=--output-file=/tmp/x", "-dc"}) {
    WorkerJob job = plain_;
    job.options.push_back(option);
    EXPECT_THAT(pool.compile(job)->problem, HasSubstr("is not allowed")) << option;
  }
}

TEST_F(Pool, AProgramThatIsNoWorkerIsNamedAsSuch) {
  options_.worker = "/bin/true";
  WorkerPool pool(options_);
  const auto answer = pool.compile(plain_);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("the NVRTC worker '/bin/true' ended with status 0"));
}

}  // namespace
}  // namespace kagent::toolchain
