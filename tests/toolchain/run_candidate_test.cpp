// SPDX-License-Identifier: Apache-2.0
// A compiled candidate in the real runner: the two stages know each other only through the Binary, so one test puts
// them together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/runner.h"
#include "toolchain/host_fixture.h"

namespace kagent::toolchain {
namespace {

namespace fs = std::filesystem;

Parameter with_shape(Parameter parameter) {
  parameter.shape = {*Expression::parse("n")};
  return parameter;
}

class RunCandidate : public HostFixture {
 protected:
  RunCandidate() {
    options_.runtime = KAGENT_RUNTIME;
    for (std::size_t i = 0; i < 2; ++i) options_.parameters[i] = with_shape(options_.parameters[i]);
  }

  // y of one call with x = 1 ... 100 and the given scalars.
  std::vector<double> outputs(const std::string& source, const std::map<std::string, double>& scalars = {}) {
    const CompileResult compiled = compile(source);
    EXPECT_EQ(compiled.outcome, Outcome::ok) << compiled.diagnostics;
    runner::RunnerLimits limits;
    limits.allow_unsandboxed = true;
    const auto session = runner::make_host_runner()->start(compiled.binary, options_.parameters, limits);
    EXPECT_TRUE(session) << session.error().message;
    CallInputs inputs{"test", {{"n", 100}}, scalars, {}};
    Tensor x = make_tensor(options_.parameters[0].dtype, {100});
    for (int i = 0; i < 100; ++i) x.set(i, i + 1);
    inputs.tensors = {{"x", x}};
    for (const auto& step : {(*session)->prepare(0, inputs, {}), (*session)->call(0)}) {
      EXPECT_TRUE(step);
      EXPECT_EQ(step->outcome, Outcome::ok) << step->detail;
    }
    std::vector<double> y;
    const auto images = (*session)->read(0);
    EXPECT_TRUE(images);
    for (const BufferImage& image : *images)
      if (image.parameter == "y")
        for (int i = 0; i < 100; ++i) y.push_back(image.contents.at(i));
    return y;
  }
  static std::vector<double> scaled(double factor) {
    std::vector<double> y;
    for (int i = 1; i <= 100; ++i) y.push_back(factor * i);
    return y;
  }
};

TEST_F(RunCandidate, computes_what_its_source_says) {
  EXPECT_EQ(outputs(kKernel), scaled(2));
}

TEST_F(RunCandidate, works_whatever_the_build_options_are) {
  const std::string source =
      "void scale(const float* x, float* y, int n) {\n#pragma omp parallel for\nfor (int i = 0; i < n; ++i) y[i] = 2 * "
      "x[i]; }\n";
  for (const std::vector<std::string>& options : {std::vector<std::string>{"-O0", "-g"},
                                                  {"-O3", "-march=native", "-ffast-math"},
                                                  {"-O2", "-fopenmp"},
                                                  {"-O2", "-flto"},
                                                  {"-O2", "-fno-pie", "-fno-pic"},
                                                  {"-O1", "-fstack-protector-all", "-D_FORTIFY_SOURCE=2"},
                                                  {"-std=c++11", "-fno-exceptions", "-fno-rtti"}}) {
    options_.command.options = options;
    EXPECT_EQ(outputs(source), scaled(2)) << options.back();
  }
}

TEST_F(RunCandidate, works_with_clang) {
  if (!fs::exists("/usr/bin/clang++")) GTEST_SKIP() << "clang is not installed";
  options_.command.compiler = "/usr/bin/clang++";
  EXPECT_EQ(outputs(kKernel), scaled(2));
}

TEST_F(RunCandidate, is_given_scalars_of_every_width) {
  options_.parameters[2].dtype = DType::int64;
  const auto add = [&](const char* name, DType dtype) {
    options_.parameters.push_back(parameter(name, ParameterKind::scalar, dtype));
  };
  add("a", DType::float32);
  add("b", DType::float64);
  add("c", DType::int8);
  add("d", DType::uint16);
  add("e", DType::boolean);
  add("f", DType::float16);
  EXPECT_EQ(outputs("void scale(const float* x, float* y, long n, float a, double b, signed char c, unsigned short d, "
                    "bool e, _Float16 f) {\n"
                    "  const float factor = e ? a + float(b) + c + d + float(f) : 0;\n"
                    "  for (long i = 0; i < n; ++i) y[i] = factor * x[i];\n}\n",
                    {{"a", 0.5}, {"b", 0.25}, {"c", -3}, {"d", 200}, {"e", 1}, {"f", 0.125}}),
            scaled(0.5 + 0.25 - 3 + 200 + 0.125));
}

TEST_F(RunCandidate, is_compared_with_a_reference_that_has_its_own_program) {
  const std::string text =
      "void scale(const double* x, double* y, int n) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }\n";
  write(project() / "golden" / "reference.cpp", text);
  options_ = reference_options(options_, {project() / "golden" / "reference.cpp", "scale"});
  EXPECT_EQ(outputs(text), scaled(2));
}

}  // namespace
}  // namespace kagent::toolchain
