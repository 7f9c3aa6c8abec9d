// SPDX-License-Identifier: Apache-2.0
#include "build_step/launcher_source.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>

#include "util/files.h"
#include "util/subprocess.h"

namespace kagent::build_step {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

Expression expression(const std::string& text) {
  return *Expression::parse(text);
}

Launch launch_of(const std::string& grid, const std::string& block) {
  const Expression one = expression("1");
  return {{expression(grid), one, one}, {expression(block), one, one}, {}, {}, {}};
}

Parameter parameter(const std::string& name, ParameterKind kind, DType dtype, std::vector<std::string> shape = {}) {
  Parameter result;
  result.name = name;
  result.kind = kind;
  result.dtype = dtype;
  for (const std::string& extent : shape) result.shape.push_back(expression(extent));
  return result;
}

KernelSpec softmax_spec() {
  KernelSpec spec;
  spec.kernel = "soft-max";
  spec.style = Style::kernel;
  spec.entry = "ops::softmax_rows";
  spec.parameters = {parameter("x", ParameterKind::input, DType::float16, {"rows", "2*cols"}),
                     parameter("y", ParameterKind::output, DType::bfloat16, {"rows"}),
                     parameter("rows", ParameterKind::size, DType::int32),
                     parameter("cols", ParameterKind::size, DType::uint64),
                     parameter("stream", ParameterKind::scalar, DType::float32)};
  return spec;
}

TEST(LauncherSource, TheFunctionLiesInTheNamespaceOfTheEntry) {
  KernelSpec spec = softmax_spec();
  EXPECT_EQ(launch_function(spec), "ops::soft_max_launch");
  spec.entry = "softmax_rows";
  spec.kernel = "3d";
  EXPECT_EQ(launch_function(spec), "kernel_3d_launch");
  EXPECT_EQ(launcher_header_name(spec), "kernel_3d_launch.h");
}

TEST(LauncherSource, TheHeaderDeclaresTypesOfCudaAndSaysTheExtents) {
  const std::string header = launcher_header(softmax_spec());
  EXPECT_THAT(header, HasSubstr("namespace ops {"));
  EXPECT_THAT(header, HasSubstr("cudaError_t soft_max_launch(cudaStream_t, const __half* x, __nv_bfloat16* y, "
                                "std::int32_t rows, std::uint64_t cols, float stream);"));
  EXPECT_THAT(header, HasSubstr("//   x: float16 [rows, 2*cols], read\n"));
  EXPECT_THAT(header, HasSubstr("//   y: bfloat16 [rows], written\n"));
  EXPECT_THAT(header, HasSubstr("#include <cuda_fp16.h>"));
  EXPECT_THAT(header, Not(HasSubstr("cuda_fp8.h")));
}

TEST(LauncherSource, WhatTheGeometryDoesNotNeedIsLeftOut) {
  const std::string text = launcher_source(softmax_spec(), "", "softmax.cu", launch_of("rows", "256"));
  EXPECT_THAT(text, Not(HasSubstr("MaxDynamicSharedMemorySize")));
  EXPECT_THAT(text, Not(HasSubstr("ClusterDimension")));
  EXPECT_THAT(text, Not(HasSubstr("cudaMemcpyToSymbolAsync")));
}

TEST(LauncherSource, MessagesNameTheKernelsOwnLines) {
  EXPECT_THAT(launcher_source(softmax_spec(), "first line", "softmax.cu", launch_of("1", "1")),
              HasSubstr("#line 1 \"softmax.cu\"\nfirst line\n#line 1 \"soft_max_launch.cu\"\n"));
}

TEST(LauncherSource, ANameWithQuotesStaysOneString) {
  EXPECT_THAT(launcher_source(softmax_spec(), "", "/a \"b\"\\c.cu", launch_of("1", "1")),
              HasSubstr("#line 1 \"/a \\\"b\\\"\\\\c.cu\"\n"));
}

TEST(LauncherSource, CallersSeeALauncherWithTheStreamInFront) {
  KernelSpec spec = softmax_spec();
  spec.launch = launch_of("1", "1");
  spec.parameters[0].constant_memory = true;
  const KernelSpec launcher = as_launcher(spec);
  EXPECT_EQ(launcher.style, Style::launcher);
  EXPECT_EQ(launcher.entry, "ops::soft_max_launch");
  EXPECT_FALSE(launcher.launch);
  ASSERT_EQ(launcher.parameters.size(), 6U);
  EXPECT_EQ(launcher.parameters[0].kind, ParameterKind::stream);
  EXPECT_EQ(launcher.parameters[0].name, "stream_");
  EXPECT_FALSE(launcher.parameters[1].constant_memory);
}

#ifdef KAGENT_TEST_NVCC

// Everything that a launch can have, compiled by nvcc and called. Without a device each call that would launch ends in
// the run time's own error, so what is decided before that can be told apart.
class CompiledLauncher : public ::testing::Test {
 protected:
  util::Finished shell(const std::string& line) {
    util::Command command;
    command.argv = {"/bin/sh", "-ec", line};
    command.working_folder = folder_.path();
    command.environment = util::minimal_environment();
    return util::run(command).value();
  }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(util::write_file_atomically(folder_.path() / name, text));
  }
  util::TemporaryFolder folder_;
};

constexpr const char* kKernel = R"(
#ifndef BLOCK
#define BLOCK 128
#endif
#define extents no
#define geometry no
namespace ops {
__constant__ float taps[15];
template <class T, int N>
__global__ void scale(const T* __restrict__ x, T* y, int rows, unsigned long cols) {
  extern __shared__ float buffer[];
  buffer[threadIdx.x] = x[blockIdx.x] * taps[threadIdx.x % 15];
  y[blockIdx.x] = buffer[N % blockDim.x] + rows + cols;
}
}
)";

constexpr const char* kCaller = R"(
#include <cstdio>
#include "scale_launch.h"
int main() {
  const std::uint64_t big = std::uint64_t{1} << 62;
  std::printf("empty %d\n", ops::scale_launch(nullptr, nullptr, nullptr, nullptr, 0, 7));
  std::printf("zero divisor %d\n", ops::scale_launch(nullptr, nullptr, nullptr, nullptr, 5, 0));
  std::printf("guarded %d\n", ops::scale_launch(nullptr, nullptr, nullptr, nullptr, 0, 3));
  std::printf("negative %d\n", ops::scale_launch(nullptr, nullptr, nullptr, nullptr, -500, 7));
  std::printf("overflow %d\n", ops::scale_launch(nullptr, nullptr, nullptr, nullptr, 2147483647, big));
  std::printf("shared %d\n", ops::scale_launch(nullptr, nullptr, nullptr, nullptr, 5, 1u << 30));
  const int fits = ops::scale_launch(nullptr, nullptr, nullptr, nullptr, 5, 7);
  std::printf("fits %d\n", fits != 9);
}
)";

TEST_F(CompiledLauncher, DecidesAboutEveryGeometryBeforeItLaunches) {
  KernelSpec spec;
  spec.kernel = "scale";
  spec.style = Style::kernel;
  spec.entry = "ops::scale";
  spec.parameters = {parameter("x", ParameterKind::input, DType::float32, {"rows"}),
                     parameter("taps", ParameterKind::input, DType::float32, {"3 * 5"}),
                     parameter("y", ParameterKind::output, DType::float32, {"rows"}),
                     parameter("rows", ParameterKind::size, DType::int32),
                     parameter("cols", ParameterKind::size, DType::uint64)};
  spec.parameters[1].constant_memory = true;
  Launch launch = launch_of("ceil_div(rows, BLOCK) * min(1, 7 / cols + cols)", "max(BLOCK, 32)");
  launch.grid[1] = expression("(cols != 0 && 3 / cols > 1) + 1");
  launch.cluster = std::array{expression("1 + (rows > 1000)"), expression("1"), expression("1")};
  launch.shared_memory = expression("4 * BLOCK * cols");
  launch.instance = "ops::scale<float, BLOCK>";
  write("kernel.cu",
        launcher_source(spec, "#undef BLOCK\n#define BLOCK 64\n" + std::string(kKernel), "scale.cu", launch));
  write("scale_launch.h", launcher_header(spec));
  write("main.cu", kCaller);
  const util::Finished built =
      shell(std::string(KAGENT_TEST_NVCC) + " -std=c++17 -arch=sm_90 -Werror all-warnings kernel.cu main.cu -o main");
  ASSERT_TRUE(built.ok()) << built.standard_error << util::read_file(folder_.path() / "kernel.cu").value();
  EXPECT_EQ(shell("./main").standard_output,
            "empty 0\nzero divisor 9\nguarded 0\nnegative 9\noverflow 9\nshared 9\nfits 1\n");
}

TEST_F(CompiledLauncher, TakesParametersOfAnyName) {
  KernelSpec spec;
  spec.kernel = "fill";
  spec.style = Style::kernel;
  spec.entry = "fill";
  std::string list;
  for (const std::string name : {"value", "exact", "geometry", "kernel", "configuration", "error", "last", "attribute",
                                 "stream", "is_empty", "limit"}) {
    spec.parameters.push_back(parameter(name, ParameterKind::size, DType::int32));
    list += ", int " + name;
  }
  spec.parameters.insert(spec.parameters.begin(), parameter("y", ParameterKind::output, DType::float32, {"8"}));
  const std::string kernel = "#define limit 8\n__global__ void fill(float* y" + list.substr(0, list.rfind(',')) +
                             ", int) { y[threadIdx.x] = value + error; }\n";
  Launch launch = launch_of("value + exact", "limit");
  launch.shared_memory = expression("4 * geometry * error");
  launch.cluster = std::array{expression("kernel"), expression("1"), expression("1")};
  write("kernel.cu", launcher_source(spec, kernel, "fill.cu", launch));
  write("fill_launch.h", launcher_header(spec));
  write("main.cu", "#include \"fill_launch.h\"\n");
  const util::Finished built = shell(std::string(KAGENT_TEST_NVCC) +
                                     " -std=c++17 -arch=sm_90 -Werror all-warnings -Xcompiler=-Wno-unused-parameter -c "
                                     "kernel.cu main.cu");
  EXPECT_TRUE(built.ok()) << built.standard_output << built.standard_error;
}

TEST_F(CompiledLauncher, IsSeenOutsideOfASharedLibraryThatHidesItsFunctions) {
  KernelSpec spec;
  spec.kernel = "fill";
  spec.style = Style::kernel;
  spec.entry = "in::fill";
  spec.parameters = {parameter("y", ParameterKind::output, DType::float32, {"8"})};
  const std::string kernel = "namespace in {\n__global__ void fill(float* y) { y[threadIdx.x] = 1; }\n}\n";
  write("kernel.cu", launcher_source(spec, kernel, "fill.cu", launch_of("1", "8")));
  write("fill_launch.h", launcher_header(spec));
  write("main.cpp",
        "#include \"fill_launch.h\"\nint main() { return in::fill_launch(nullptr, nullptr) == cudaSuccess; }\n");
  const util::Finished built = shell("nvcc() { " KAGENT_TEST_NVCC
                                     " -arch=sm_90 -Xcompiler=-fPIC,-fvisibility=hidden,-Wall \"$@\"; }\n"
                                     "nvcc -shared kernel.cu -o libfill.so && nvcc main.cpp -L. -lfill -o main");
  EXPECT_TRUE(built.ok()) << built.standard_output << built.standard_error;
  EXPECT_THAT(built.standard_error, Not(HasSubstr("warning")));
  EXPECT_THAT(launcher_source(spec, kernel, "fill.cu", launch_of("1", "8"), Seen::as_compiled),
              Not(HasSubstr("__visibility__")));
}

TEST_F(CompiledLauncher, NeedsNoArithmeticToBeFreeOfWarnings) {
  KernelSpec spec;
  spec.kernel = "copy";
  spec.style = Style::kernel;
  spec.entry = "in::c14::copy";
  spec.parameters = {parameter("x", ParameterKind::input, DType::float32, {"8"}),
                     parameter("y", ParameterKind::output, DType::float32, {"8"})};
  const std::string kernel =
      "namespace in { namespace c14 {\n"
      "__global__ void copy(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }\n}}\n";
  write("kernel.cu", launcher_source(spec, kernel, "copy.cu", launch_of("1", "8")));
  const util::Finished built =
      shell(std::string(KAGENT_TEST_NVCC) + " -std=c++14 -arch=sm_90 -Werror all-warnings -c kernel.cu -o kernel.o");
  EXPECT_TRUE(built.ok()) << built.standard_output << built.standard_error;
}

// A launch converts what it is given: an int64 would lose half of it, and a swapped pointer is complained of by CUDA.
TEST_F(CompiledLauncher, NamesTheParameterThatTheKernelTakesOtherwise) {
  KernelSpec spec;
  spec.kernel = "other";
  spec.style = Style::kernel;
  spec.entry = "other";
  spec.parameters = {parameter("x", ParameterKind::input, DType::float32, {"8"}),
                     parameter("y", ParameterKind::output, DType::float32, {"8"}),
                     parameter("n", ParameterKind::size, DType::int64),
                     parameter("fine", ParameterKind::size, DType::int64),
                     parameter("letters", ParameterKind::scalar, DType::uint8),
                     parameter("a", ParameterKind::scalar, DType::float64),
                     parameter("sign", ParameterKind::scalar, DType::uint32),
                     parameter("missing", ParameterKind::scalar, DType::float32),
                     parameter("taps", ParameterKind::input, DType::float32, {"3 * 5"}),
                     parameter("table", ParameterKind::input, DType::int64, {"4"}),
                     parameter("pairs", ParameterKind::input, DType::float32, {"8"})};
  for (std::size_t i = 8; i < spec.parameters.size(); ++i) spec.parameters[i].constant_memory = true;
  write("kernel.cu", launcher_source(spec,
                                     "__constant__ float taps[14];\n__constant__ double table[2][2];\n"
                                     "__constant__ float2 pairs[5];\n"
                                     "__global__ void other(const float*, const float*, int, long long, char, float, "
                                     "int) {}\n",
                                     "other.cu", launch_of("1", "8")));
  const util::Finished built =
      shell(std::string(KAGENT_TEST_NVCC) + " -arch=sm_90 -c kernel.cu -o kernel.o 2>&1 || true");
  const std::string said = built.standard_output;
  EXPECT_THAT(said, HasSubstr("\"other takes another number of parameters than kernel.json lists outside of constant "
                              "memory, 8\""));
  EXPECT_THAT(said, HasSubstr("\"parameter 3 of other is of another type than 'n' of kernel.json, std::int64_t\""));
  EXPECT_THAT(said, HasSubstr("\"parameter 6 of other is of another type than 'a' of kernel.json, double\""));
  EXPECT_THAT(said, HasSubstr("\"parameter 7 of other is of another type than 'sign' of kernel.json, std::uint32_t\""));
  EXPECT_THAT(said, HasSubstr("\"taps holds less than kernel.json copies to it, 15 of float\""));
  EXPECT_THAT(said, HasSubstr("\"table holds another type than kernel.json copies to it, 4 of std::int64_t\""));
  EXPECT_THAT(said, Not(HasSubstr("pairs")));
  for (const char* right : {"'x'", "'y'", "'fine'", "'letters'", "'missing'"}) EXPECT_THAT(said, Not(HasSubstr(right)));
}

// atomicAdd() takes unsigned long long, which std::uint64_t is not.
TEST_F(CompiledLauncher, TakesBuffersOfIntegersByAnyNameOfTheirType) {
  KernelSpec spec;
  spec.kernel = "count";
  spec.style = Style::kernel;
  spec.entry = "count";
  spec.parameters = {parameter("x", ParameterKind::input, DType::int64, {"8"}),
                     parameter("letters", ParameterKind::input, DType::int8, {"8"}),
                     parameter("bits", ParameterKind::input, DType::uint64, {"1"}),
                     parameter("total", ParameterKind::inout, DType::uint64, {"1"}),
                     parameter("any", ParameterKind::output, DType::uint32, {"8"})};
  const std::string source =
      "__global__ void count(const long long* __restrict__ x, const char* letters, unsigned long long* bits, "
      "unsigned long long* total, void* any) {\n"
      "  atomicAdd(total, static_cast<unsigned long long>(x[threadIdx.x] + letters[threadIdx.x]));\n"
      "}\n";
  const std::string compile = std::string(KAGENT_TEST_NVCC) +
                              " -arch=sm_90 -std=c++14 -Werror all-warnings -c kernel.cu -o kernel.o 2>&1 || true";
  write("kernel.cu", launcher_source(spec, source, "count.cu", launch_of("1", "8")));
  const std::string said = shell(compile).standard_output;
  EXPECT_THAT(said, HasSubstr("\"parameter 3 of count is of another type than 'bits' of kernel.json, "
                              "const std::uint64_t*\""));
  EXPECT_THAT(said, HasSubstr("1 error detected"));

  spec.parameters[2].kind = ParameterKind::workspace;
  write("kernel.cu", launcher_source(spec, source, "count.cu", launch_of("1", "8")));
  EXPECT_EQ(shell(compile).standard_output, "");
}

TEST_F(CompiledLauncher, SaysAtOnceThatATemplateIsNoKernel) {
  KernelSpec spec;
  spec.kernel = "fill";
  spec.style = Style::kernel;
  spec.entry = "fill";
  spec.parameters = {parameter("y", ParameterKind::output, DType::float32, {"8"})};
  write("kernel.cu", launcher_source(spec, "template <class T, int N> __global__ void fill(T* y) { *y = N; }\n",
                                     "fill.cu", launch_of("1", "8")));
  const util::Finished built =
      shell(std::string(KAGENT_TEST_NVCC) + " -arch=sm_90 -c kernel.cu -o kernel.o 2>&1 || true");
  EXPECT_THAT(built.standard_output, HasSubstr("which instance of function template \"fill\" is intended"));
  EXPECT_THAT(built.standard_output, HasSubstr("1 error detected"));
}

#endif

}  // namespace
}  // namespace kagent::build_step
