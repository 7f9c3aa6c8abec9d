// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "spec/spec.h"
#include "util/files.h"

// The real program with a real compiler and runner: init, then golden record.
namespace kagent::spec {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

struct Ran {
  int code = 0;
  std::string out, err;
};

class GoldenCommandsTest : public testing::Test {
 protected:
  GoldenCommandsTest() {
    write("scale.cpp",
          "namespace ops {\nvoid scale(const float* x, float* y, float alpha, int n) {\n"
          "  for (int i = 0; i < n; ++i) y[i] = alpha * x[i];\n}\n}\n");
  }

  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(util::write_file_atomically(folder.path() / name, text));
  }
  std::string read(const std::string& name) const { return util::read_file(folder.path() / name).value(); }

  Ran kagent(const std::string& arguments) const {
    const std::string command =
        "cd '" + folder.path().string() + "' && '" KAGENT_PROGRAM "' " + arguments + " >out 2>err";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
  }
  Ran record(const std::string& arguments) const {
    return kagent("golden record " + arguments + " --runtime '" KAGENT_RUNTIME "'");
  }
  void complete_reference() const {
    write("golden/scale/reference.cpp",
          "void scale_reference(const double* x, double* y, double alpha, int n) {\n"
          "  for (int i = 0; i < n; ++i) y[i] = alpha * x[i];\n}\n");
  }

  util::TemporaryFolder folder;
};

TEST_F(GoldenCommandsTest, init_writes_a_spec_that_loads_and_says_what_to_complete) {
  const Ran ran = kagent("init scale.cpp scale");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("wrote golden/scale/kernel.json"), HasSubstr("/parameters/0/shape"),
                             HasSubstr("kagent_optimize_kernel(scale")));
  const auto spec = load(folder.path() / "golden/scale");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->entry, "ops::scale");
}

TEST_F(GoldenCommandsTest, init_quotes_what_a_cmake_call_would_split) {
  write("a b$.cpp", "void scale(const float* x, float* y, int n) { y[0] = x[n - 1]; }\n");
  const Ran ran = kagent("init 'a b$.cpp' scale --golden 'gold en/ü'");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("SOURCE \"a b\\$.cpp\"\n"), HasSubstr("GOLDEN \"gold en/ü\")\n")));
}

TEST_F(GoldenCommandsTest, init_does_not_touch_what_is_there) {
  ASSERT_EQ(kagent("init scale.cpp scale").code, 0);
  write("golden/scale/kernel.json", "mine");
  const Ran again = kagent("init scale.cpp scale");
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("exists already"));
  EXPECT_EQ(read("golden/scale/kernel.json"), "mine");
}

TEST_F(GoldenCommandsTest, init_names_a_missing_function_and_a_missing_source) {
  EXPECT_THAT(kagent("init scale.cpp scales").err, HasSubstr("did you mean 'scale'?"));
  EXPECT_EQ(kagent("init missing.cpp scale").code, 2);
}

TEST_F(GoldenCommandsTest, a_recorded_case_holds_what_the_reference_computes) {
  ASSERT_EQ(kagent("init scale.cpp scale").code, 0);
  complete_reference();
  const Ran ran = record("golden/scale ragged --seed 7");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto spec = load(folder.path() / "golden/scale");
  ASSERT_TRUE(spec) << spec.error().message;
  const Case& ragged = *spec->find_case("ragged");
  const CallInputs inputs = generate_inputs(*spec, ragged, 1).value();
  const Expected expected = recorded_expected(*spec, ragged).value().value();
  const double alpha = inputs.scalars.at("alpha");
  for (std::int64_t i = 0; i < expected.tensors.at("y").element_count(); ++i)
    ASSERT_EQ(expected.tensors.at("y").at(i), static_cast<float>(alpha * inputs.tensors.at("x").at(i)));
}

TEST_F(GoldenCommandsTest, a_reference_that_is_not_complete_is_named) {
  ASSERT_EQ(kagent("init scale.cpp scale").code, 0);
  const std::string before = read("golden/scale/kernel.json");
  const Ran ran = record("golden/scale ragged");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("reference.cpp"), HasSubstr("complete this reference")));
  EXPECT_EQ(read("golden/scale/kernel.json"), before);
}

TEST_F(GoldenCommandsTest, a_reference_that_crashes_changes_nothing) {
  ASSERT_EQ(kagent("init scale.cpp scale").code, 0);
  write("golden/scale/reference.cpp",
        "void scale_reference(const double*, double*, double, int) { *static_cast<volatile int*>(nullptr) = 1; }\n");
  const std::string before = read("golden/scale/kernel.json");
  const Ran ran = record("golden/scale ragged");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("scale_reference"), HasSubstr("crashed")));
  EXPECT_EQ(read("golden/scale/kernel.json"), before);
}

TEST_F(GoldenCommandsTest, an_unknown_case_is_refused_before_anything_is_compiled) {
  ASSERT_EQ(kagent("init scale.cpp scale").code, 0);
  EXPECT_THAT(record("golden/scale raged").err, HasSubstr("did you mean 'ragged'?"));
}

}  // namespace
}  // namespace kagent::spec
