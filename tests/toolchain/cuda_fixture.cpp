// SPDX-License-Identifier: Apache-2.0
#include "toolchain/cuda_fixture.h"

#include "toolchain/archive.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

constexpr const char* kMain = R"(
#include <cstdio>
extern "C" int kagent_cuda_call(void* const* arguments);
int main() {
  int n = 3;
  void* arguments[] = {(void*)1, (void*)2, &n, (void*)4};
  const int status = kagent_cuda_call(arguments);
  std::printf("status %d\n", status);
}
)";

}  // namespace

fs::path CudaFixture::nvcc() {
  return util::find_program("nvcc", "/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/opt/cuda/bin");
}

CudaFixture::CudaFixture() {
  fs::create_directories(project() / "src");
  fs::create_directories(build());
  options_.command = {build(), nvcc(), {"-forward-unknown-to-host-compiler", "-O3", "-std=c++17", "-x", "cu"}};
  options_.source = project() / "src" / "scale.cu";
  options_.entry = "scale";
  options_.parameters = {parameter("x", ParameterKind::input), parameter("y", ParameterKind::output),
                         parameter("n", ParameterKind::size, DType::int32), parameter("stream", ParameterKind::stream)};
  options_.architecture = "sm_90a";
  options_.visible = {project(), build()};
  options_.allow_unsandboxed = true;
}

void CudaFixture::SetUp() {
  if (!fs::exists(nvcc())) GTEST_SKIP() << "there is no nvcc";
  options_.runtime = make_archive(kMain);
}

Parameter CudaFixture::parameter(const std::string& name, ParameterKind kind, DType dtype) {
  Parameter result;
  result.name = name;
  result.kind = kind;
  result.dtype = dtype;
  return result;
}

void CudaFixture::write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  ASSERT_TRUE(util::write_file_atomically(path, text)) << path;
}

fs::path CudaFixture::work_folder() {
  last_work_ = folder_.path() / ("work" + std::to_string(works_++));
  fs::create_directories(last_work_);
  return last_work_;
}

CompileResult CudaFixture::compile(const std::string& source, Toolchain* toolchain) {
  const auto own = make_cuda_toolchain(options_);
  const auto result = (toolchain != nullptr ? toolchain : own.get())->compile({source, work_folder()});
  if (!result) ADD_FAILURE() << result.error().message;
  return result.value_or(CompileResult{Outcome::crashed, "", {}, {}});
}

std::string CudaFixture::run(const Binary& binary) {
  util::Command command;
  command.argv = {binary.executable.string()};
  command.environment = util::minimal_environment();
  const auto finished = util::run(command);
  return finished && finished->ok() ? finished->standard_output : "failed";
}

}  // namespace kagent::toolchain
