// SPDX-License-Identifier: Apache-2.0
#include "toolchain/cuda_toolchain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toolchain/archive.h"
#include "toolchain/cuda_fixture.h"
#include "toolchain/host_toolchain.h"
#include "util/sandbox.h"
#include "util/text.h"

namespace kagent::toolchain {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

using CudaToolchain = CudaFixture;

std::string text_of(const fs::path& file) {
  return util::read_file(file).value_or("");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST_F(CudaToolchain, makes_a_program_and_says_what_its_kernels_take) {
  const CompileResult result = compile(kCudaKernel);
  ASSERT_EQ(result.outcome, Outcome::ok) << result.diagnostics;
  EXPECT_EQ(result.diagnostics, "");
  EXPECT_EQ(result.binary.symbol, "_Z5scalePKfPfiP11CUstream_st");
  EXPECT_EQ(result.binary.architecture, "sm_90a");
  ASSERT_EQ(result.binary.device_usage.size(), 1u);
  const DeviceUsage& usage = result.binary.device_usage.front();
  EXPECT_EQ(usage.kernel, "void scale_kernel<float>(float const*, float*, int)");
  EXPECT_GT(usage.registers, 4);
  EXPECT_EQ(usage.shared_bytes, 1024);
  EXPECT_EQ(usage.barriers, 1);
  EXPECT_EQ(usage.spill_store_bytes, 0);
  // The device code of this one architecture, and nothing of nvcc's many intermediate files.
  EXPECT_THAT(text_of(last_work_ / kCubinName), HasSubstr("sm_90a"));
  EXPECT_FALSE(fs::exists(last_work_ / "scale.ptx"));
  EXPECT_THAT(run(result.binary), HasSubstr("status "));
}

TEST_F(CudaToolchain, makes_equal_objects_of_equal_programs) {
  options_.command.options.insert(options_.command.options.begin(), {"-lineinfo", "-rdc=true"});
  if (!util::sandbox_state().available) options_.command.options.erase(options_.command.options.begin());
  const auto toolchain = make_cuda_toolchain(options_);
  const CompileResult first = compile(kCudaKernel, toolchain.get());
  const CompileResult second = compile(kCudaKernel, toolchain.get());
  const CompileResult other = compile(replaced(kCudaKernel, "x + 1", "x - 1"), toolchain.get());
  ASSERT_EQ(first.outcome, Outcome::ok) << first.diagnostics;
  EXPECT_EQ(first.binary.object_hash, second.binary.object_hash);
  EXPECT_NE(first.binary.object_hash, other.binary.object_hash);
}

TEST_F(CudaToolchain, lets_a_candidate_change_kernels_and_device_functions_but_not_the_entry) {
  const auto toolchain = make_cuda_toolchain(options_);
  ASSERT_EQ(compile(kCudaKernel, toolchain.get()).outcome, Outcome::ok);
  const CompileResult renamed =
      compile(replaced(replaced(replaced(kCudaKernel, "helper", "aide"), "scale_kernel", "better"), "hidden", "inner"),
              toolchain.get());
  EXPECT_EQ(renamed.outcome, Outcome::ok) << renamed.diagnostics;
  const CompileResult status = compile(replaced(replaced(kCudaKernel, "void scale(", "cudaError_t scale("),
                                                "(x, y, n);\n}\n", "(x, y, n);\n  return cudaGetLastError();\n}\n"),
                                       toolchain.get());
  EXPECT_EQ(status.outcome, Outcome::compile_failed);
  EXPECT_THAT(status.diagnostics, HasSubstr("returned 'void', which its callers rely on; now 'cudaError_t'"));
}

// No kernel is launched here, so that this runs without a device.
TEST_F(CudaToolchain, passes_every_argument_and_returns_the_status_of_the_entry) {
  options_.parameters.insert(options_.parameters.begin() + 2,
                             parameter("alpha", ParameterKind::scalar, DType::float16));
  options_.entry = "ops::scale";
  options_.runtime = make_archive(R"(
    #include <cstdio>
    extern "C" int kagent_cuda_call(void* const* arguments);
    int main() {
      int n = 3;
      unsigned short half = 0x3e00;
      void* arguments[] = {(void*)1, (void*)2, &half, &n, (void*)4};
      std::printf(" -> %d", kagent_cuda_call(arguments));
    })");
  const CompileResult result = compile(R"(
    #include <cstdio>
    #include <cuda_fp16.h>
    namespace ops {
    cudaError_t scale(const float* x, float* y, __half alpha, int n, cudaStream_t stream) {
      std::printf("%p %p %g %d %p", (const void*)x, (void*)y, double(__half2float(alpha)), n, (void*)stream);
      return cudaErrorInvalidValue;
    }
    })");
  ASSERT_EQ(result.outcome, Outcome::ok) << result.diagnostics;
  EXPECT_EQ(run(result.binary), "0x1 0x2 1.5 3 0x4 -> 1");
}

TEST_F(CudaToolchain, refuses_static_shared_memory_over_the_limit_as_a_limit) {
  const CompileResult result = compile(replaced(kCudaKernel, "T tile[256]", "T tile[20000]"));
  EXPECT_EQ(result.outcome, Outcome::limits_exceeded);
  // ptxas refuses it for some architectures, and leaves it to the launch for others.
  EXPECT_THAT(result.diagnostics, testing::AnyOf(HasSubstr("80000 bytes"), HasSubstr("0x13880 bytes")));
}

TEST_F(CudaToolchain, refuses_more_threads_than_a_block_can_have) {
  const CompileResult result = compile(replaced(kCudaKernel, "__launch_bounds__(256)", "__launch_bounds__(2048)"));
  EXPECT_EQ(result.outcome, Outcome::limits_exceeded) << result.diagnostics;
  EXPECT_THAT(result.diagnostics, HasSubstr("2048"));
}

TEST_F(CudaToolchain, names_line_and_class_of_front_end_errors) {
  const CompileResult result = compile(
      "__global__ void k(float* y, int n) {\n  y[0] = nowhere;\n  float* q = n;\n}\n"
      "void scale(const float*, float* y, int n, cudaStream_t s) { k<<<1, 1, 0, s>>>(y, n); }\n");
  EXPECT_EQ(result.outcome, Outcome::compile_failed);
  EXPECT_THAT(result.diagnostics, HasSubstr("scale.cu:2: error: identifier \"nowhere\" is undefined"));
  EXPECT_THAT(result.diagnostics, HasSubstr("  > 3 |   float* q = n;"));
  EXPECT_THAT(result.diagnostics, Not(HasSubstr("/kagent/")));
}

TEST_F(CudaToolchain, says_how_a_tunable_gets_into_an_unroll_pragma) {
  const CompileResult result = compile(
      "#define UNROLL 4\n__global__ void k(float* y, int n) {\n  #pragma unroll UNROLL\n"
      "  for (int i = 0; i < n; ++i) y[i] = 0;\n}\n"
      "void scale(const float*, float* y, int n, cudaStream_t s) { k<<<1, 1, 0, s>>>(y, n); }\n");
  EXPECT_EQ(result.outcome, Outcome::compile_failed);
  EXPECT_THAT(result.diagnostics, HasSubstr("  > 3 |   #pragma unroll UNROLL"));
  EXPECT_THAT(result.diagnostics, HasSubstr("advice: nvcc does not expand macros inside '#pragma unroll'"));
}

TEST_F(CudaToolchain, finds_the_source_line_of_an_instruction_that_the_architecture_lacks) {
  options_.architecture = "sm_90";
  const CompileResult result = compile(
      "__global__ void k() {\n  asm volatile(\"wgmma.fence.sync.aligned;\");\n}\n"
      "void scale(const float*, float*, int, cudaStream_t s) { k<<<1, 1, 0, s>>>(); }\n");
  EXPECT_EQ(result.outcome, Outcome::compile_failed);
  EXPECT_THAT(result.diagnostics, HasSubstr("scale.cu:2: error: Instruction 'wgmma.fence' not supported on .target"));
  EXPECT_THAT(result.diagnostics, HasSubstr("advice: this architecture does not have it"));
}

TEST_F(CudaToolchain, says_what_a_source_that_is_not_self_contained_lacks) {
  options_.command.options.push_back("-rdc=true");
  const CompileResult result = compile(
      "extern __device__ float far_away(float);\n__global__ void k(float* y) { y[0] = far_away(y[1]); }\n"
      "void scale(const float*, float* y, int, cudaStream_t s) { k<<<1, 1, 0, s>>>(y); }\n");
  EXPECT_EQ(result.outcome, Outcome::compile_failed);
  EXPECT_THAT(result.diagnostics, HasSubstr("not self-contained: nothing defines 'far_away(float)'"));
}

TEST_F(CudaToolchain, keeps_the_builds_options_but_the_architectures) {
  options_.command.options = {"-O3", "-DN=1", "--generate-code=arch=compute_80,code=[compute_80,sm_80]",
                              "-Xcompiler=-Wall"};
  const std::string words = util::quote_shell_words(cuda_compile_words(options_, "/k/scale.cu", "/k/scale.o"));
  EXPECT_THAT(words, HasSubstr("-O3 -DN=1 -Xcompiler=-Wall"));
  EXPECT_THAT(words, HasSubstr("arch=compute_90a,code=[sm_90a]"));
  EXPECT_THAT(words, Not(HasSubstr("80")));
  EXPECT_THAT(words, HasSubstr("-x cu -c /k/scale.cu -o /k/scale.o"));
}

TEST_F(CudaToolchain, finds_headers_beside_the_baseline_in_a_folder_with_any_name) {
  options_.source = project() / "a b, c" / "scale.cu";
  write(options_.source.parent_path() / "beside.h", "constexpr int kBeside = 1;\n");
  const CompileResult result = compile("#include \"beside.h\"\n" + replaced(kCudaKernel, "x + 1", "x + kBeside"));
  EXPECT_EQ(result.outcome, Outcome::ok) << result.diagnostics;
}

TEST_F(CudaToolchain, tells_the_user_of_a_compiler_or_an_architecture_that_it_cannot_use) {
  options_.architecture = "sm_30";
  auto refused = make_cuda_toolchain(options_)->compile({kCudaKernel, work_folder()});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("cannot compile for sm_30"));
  options_.architecture = "90";
  refused = make_cuda_toolchain(options_)->compile({kCudaKernel, work_folder()});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("'90' is no CUDA architecture"));
  options_.command.compiler = "/usr/bin/clang++";
  refused = make_cuda_toolchain(options_)->compile({kCudaKernel, work_folder()});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("is not nvcc"));
}

TEST_F(CudaToolchain, shows_no_hidden_file_to_the_compiler) {
  if (!util::sandbox_state().available) GTEST_SKIP() << util::sandbox_state().description;
  options_.allow_unsandboxed = false;
  constexpr const char* kSecret = "s3cr3t_expected_values";
  write(project() / "golden" / "y.txt", kSecret);
  options_.covered = {project() / "golden"};
  for (const std::string& attempt :
       {"#include \"" + (project() / "golden" / "y.txt").string() + "\"\n",
        "__asm__(\".incbin \\\"" + (project() / "golden" / "y.txt").string() + "\\\"\");\n",
        std::string("#include \"/etc/passwd\"\n")}) {
    const CompileResult result = compile(attempt + kCudaKernel);
    EXPECT_EQ(result.outcome, Outcome::compile_failed) << attempt;
    const std::string traces = result.diagnostics + text_of(last_work_ / "compile.log") +
                               text_of(last_work_ / "candidate.o") + text_of(last_work_ / "candidate");
    EXPECT_THAT(traces, Not(HasSubstr(kSecret)));
    EXPECT_THAT(traces, Not(HasSubstr("root:")));
  }
}

TEST_F(CudaToolchain, finds_the_headers_of_a_cuda_source) {
  write(project() / "src" / "both.h", "");
  write(project() / "src" / "hopper.h", "");
  write(options_.source,
        "#include <cuda_fp16.h>\n#include \"both.h\"\n#if __CUDA_ARCH__ >= 900\n#include \"hopper.h\"\n#endif\n");
  CompileCommand command = options_.command;
  command.options.push_back("--generate-code=arch=compute_90,code=[sm_90]");
  const auto headers = included_headers(command, options_.source, {});
  ASSERT_TRUE(headers) << headers.error().message;
  EXPECT_THAT(*headers, testing::ElementsAre(project() / "src" / "both.h", project() / "src" / "hopper.h"));
}

#ifdef KAGENT_TEST_CUDA_RUNTIME
TEST_F(CudaToolchain, links_the_runtime_that_kagent_runs_candidates_with) {
  options_.runtime = KAGENT_TEST_CUDA_RUNTIME;
  const CompileResult result = compile(kCudaKernel);
  EXPECT_EQ(result.outcome, Outcome::ok) << result.diagnostics;
}
#endif

TEST_F(CudaToolchain, names_the_release_of_nvcc) {
  EXPECT_THAT(make_cuda_toolchain(options_)->compiler(), testing::MatchesRegex("nvcc [0-9.]+"));
}

TEST_F(CudaToolchain, takes_headers_of_a_host_compiler_that_is_installed_elsewhere_for_the_systems) {
  const fs::path prefix = folder_.path() / "opt/host", compiler = prefix / "bin/g++";
  write(prefix / "headers/my_limits.h", "");
  write(compiler, "#!/bin/sh\nexec /usr/bin/g++ -idirafter '" + (prefix / "headers").string() + "' \"$@\"\n");
  fs::permissions(compiler, fs::perms::owner_all);
  write(project() / "include/tile.h", "#include <my_limits.h>\n#include <cuda_fp16.h>\n");
  write(options_.source, "#include <tile.h>\n");
  options_.command.options.insert(options_.command.options.end(),
                                  {"-ccbin=" + compiler.string(), "-I" + (project() / "include").string()});
  const auto headers = included_headers(options_.command, options_.source, {project(), build()});
  ASSERT_TRUE(headers) << headers.error().message;
  EXPECT_THAT(*headers, testing::ElementsAre(project() / "include/tile.h"));
}

}  // namespace
}  // namespace kagent::toolchain
