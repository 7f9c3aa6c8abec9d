// SPDX-License-Identifier: Apache-2.0
#include "loop/dispatch_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/files.h"

namespace kagent::loop {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// What is checked of a kernel that is built for several levels or architectures.
class DispatchCheck : public testing::Test {
 protected:
  Result<void> check(const std::string& source, const std::string& entry = "scale") {
    context_.request.project_dir = folder_.path();
    context_.request.source = folder_.path() / ("scale" + extension_);
    context_.request.build_dir = folder_.path() / "build";
    fs::create_directories(context_.request.build_dir);
    context_.spec.folder = folder_.path() / "golden";
    context_.spec.entry = entry;
    Parameter x, n;
    x.name = "x", x.kind = ParameterKind::inout, x.dtype = DType::float32, x.shape = {*Expression::parse("n")};
    n.name = "n", n.kind = ParameterKind::size, n.dtype = DType::int32;
    context_.spec.parameters = {x, n};
    context_.command.directory = context_.request.build_dir;
    context_.request.outputs = {{"dispatch", context_.request.source}};
    EXPECT_TRUE(util::write_file_atomically(context_.request.source, source));
    WorkbenchOptions options;
    options.runtime = KAGENT_RUNTIME;
    options.state_folder = folder_.path() / "state";
    options.allow_unsandboxed = true;
    return check_dispatch(context_, options, folder_.path() / "state/renamed");
  }
  void use_cpp() {
    context_.command.compiler = "/usr/bin/c++";
    context_.command.options = {"-O1"};
  }
  util::TemporaryFolder folder_;
  build_step::KernelContext context_;
  std::string extension_ = ".cpp";
};

TEST_F(DispatchCheck, accepts_an_entry_with_a_name_of_its_own) {
  use_cpp();
  const auto done =
      check("namespace ops { void scale(float* x, int n) { for (int i = 0; i < n; ++i) x[i] *= 3; } }\n", "ops::scale");
  EXPECT_TRUE(done) << done.error().message;
}

TEST_F(DispatchCheck, refuses_an_entry_that_has_an_overload) {
  use_cpp();
  const auto done = check("void scale(double*, int) {}\nvoid scale(float* x, int n) { x[n - 1] *= 3; }\n");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("with several architectures the entry scale gets another name"));
  EXPECT_THAT(done.error().fix, HasSubstr("leave ARCHITECTURES out"));
}

#ifdef KAGENT_TEST_NVCC

class CudaDispatchCheck : public DispatchCheck {
 protected:
  void SetUp() override {
    extension_ = ".cu";
    context_.request.language = Language::cuda;
    context_.architecture = "sm_90";
    context_.command.compiler = KAGENT_TEST_NVCC;
  }
};

constexpr const char* kKernel =
    "__global__ void kernel(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 3; }\n";

TEST_F(CudaDispatchCheck, accepts_an_entry_with_a_name_of_its_own) {
  const auto done = check(std::string(kKernel) + "void scale(float* x, int n) { kernel<<<1, 256>>>(x, n); }\n");
  EXPECT_TRUE(done) << done.error().message;
}

TEST_F(CudaDispatchCheck, refuses_an_entry_with_the_name_of_its_namespace) {
  const auto done = check(
      "namespace scale {\n" + std::string(kKernel) + "void scale(float* x, int n) { kernel<<<1, 256>>>(x, n); }\n}\n",
      "scale::scale");
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("with several architectures the entry scale::scale gets another name"));
  EXPECT_THAT(done.error().fix, HasSubstr("build for one architecture"));
}

TEST_F(CudaDispatchCheck, compiles_the_launcher_of_a_source_of_device_code) {
  context_.spec.style = Style::kernel;
  context_.spec.kernel = "scale";
  const Expression one = *Expression::parse("1"), block = *Expression::parse("256");
  context_.spec.launch = Launch{{one, one, one}, {block, one, one}, {}, {}, {}};
  context_.source_text = kKernel;
  const auto done = check(kKernel, "kernel");
  EXPECT_TRUE(done) << done.error().message;
}

#endif

}  // namespace
}  // namespace kagent::loop
