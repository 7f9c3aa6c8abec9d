// SPDX-License-Identifier: Apache-2.0
#include "spec/init.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/golden_folder.h"
#include "spec/spec.h"

namespace kagent::spec {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kSource = R"(#include "tile.h"
#ifndef BLOCK
#define BLOCK 128
#endif
#ifndef  UNROLL  // comment
# define UNROLL 1
#endif
#ifndef OTHER
#define DIFFERENT 4
#endif
#ifndef WIDE
#define WIDE (1 << 4)
#endif
namespace ops {
void scale(const float* __restrict__ x, float* __restrict__ y, double* total, float alpha, int rows, std::size_t cols) {}
}
)";

TEST(Init, TheFirstSpecLoads) {
  const util::TemporaryFolder folder;
  const auto first = first_spec(kSource, "scale", "");
  ASSERT_TRUE(first) << first.error().message;
  const auto files = write_first_spec(folder.path() / "golden/scale", *first);
  ASSERT_TRUE(files) << files.error().message;
  const auto spec = load(folder.path() / "golden/scale");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->kernel, "scale");
  EXPECT_EQ(spec->entry, "ops::scale");
  EXPECT_EQ(spec->find_parameter("x")->kind, ParameterKind::input);
  EXPECT_EQ(spec->find_parameter("y")->kind, ParameterKind::output);
  EXPECT_EQ(spec->find_parameter("total")->dtype, DType::float64);
  EXPECT_EQ(spec->find_parameter("alpha")->kind, ParameterKind::scalar);
  EXPECT_EQ(spec->find_parameter("cols")->dtype, DType::uint64);
  EXPECT_EQ(spec->find_parameter("x")->shape.size(), 2U);
  EXPECT_EQ(spec->reference->function, "scale_reference");
  EXPECT_EQ(spec->cases.size(), 2U);
  EXPECT_TRUE(spec->cases[0].timed);
}

TEST(Init, GuardedNumbersBecomeTunables) {
  const util::TemporaryFolder folder;
  ASSERT_TRUE(write_first_spec(folder.path(), *first_spec(kSource, "scale", "k")));
  const auto spec = load(folder.path());
  ASSERT_EQ(spec->tunables.size(), 2U);
  EXPECT_EQ(spec->tunables[0].name, "BLOCK");
  EXPECT_EQ(spec->tunables[0].values, (std::vector<std::int64_t>{64, 128, 256}));
  EXPECT_EQ(spec->tunables[1].values, (std::vector<std::int64_t>{0, 1}));
}

TEST(Init, EveryGuessIsListed) {
  const auto first = first_spec(kSource, "scale", "");
  EXPECT_THAT(first->to_complete, Contains(HasSubstr("/parameters/0/shape: the shape of 'x' is a guess")));
  EXPECT_THAT(first->to_complete, Contains(HasSubstr("/parameters/1/kind: \"output\"")));
  EXPECT_THAT(first->to_complete, Contains(HasSubstr("/cases/0: ")));
  EXPECT_THAT(first->to_complete, Contains(HasSubstr("/reference: ")));
  EXPECT_THAT(first->kernel_json, HasSubstr("\"to-complete\""));
}

TEST(Init, TheReferenceIsInDoublePrecisionAndSaysThatItIsIncomplete) {
  const auto first = first_spec(kSource, "scale", "");
  EXPECT_THAT(first->reference,
              HasSubstr("void scale_reference(const double* x, double* y, double* total, double alpha, "
                        "std::int32_t rows, std::uint64_t cols) {\n}"));
  EXPECT_THAT(first->reference, HasSubstr("#error"));
}

TEST(Init, ExistingFilesAreNeverOverwritten) {
  for (const char* present : {"kernel.json", "reference.cpp"}) {
    const util::TemporaryFolder folder;
    ASSERT_TRUE(util::write_file_atomically(folder.path() / present, "mine"));
    const auto files = write_first_spec(folder.path(), *first_spec(kSource, "scale", ""));
    ASSERT_FALSE(files);
    EXPECT_THAT(files.error().message, HasSubstr(std::string(present) + "' exists already"));
    EXPECT_EQ(util::read_file(folder.path() / present).value(), "mine");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  }
}

TEST(Init, AFunctionThatWritesNothingIsRefused) {
  EXPECT_THAT(first_spec("void f(const float* x, int n);", "f", "").error().message,
              HasSubstr("no parameter that it could write"));
}

TEST(Init, NamesThatWouldNotLoadAreRefused) {
  EXPECT_THAT(first_spec(kSource, "scale", "a/b").error().message, HasSubstr("no name of a kernel"));
  EXPECT_THAT(first_spec("void f(float* y, int max);", "f", "").error().message, HasSubstr("'max'"));
}

TEST(Init, AKernelGetsAGeometryAndAnInstance) {
  const util::TemporaryFolder folder;
  const auto first = first_spec(
      "#ifndef TILE\n#define TILE 4\n#endif\ntemplate <class T, int N, int M = 2>\n"
      "__global__ void __launch_bounds__(256) scale(const T* x, T* y, int rows, int cols) {}",
      "scale", "");
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(write_first_spec(folder.path(), *first));
  const auto spec = load(folder.path());
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->style, Style::kernel);
  EXPECT_EQ(spec->launch->grid[0].text(), "ceil_div(rows * cols, 256)");
  EXPECT_EQ(spec->launch->instance, "scale<float, 256, 2>");
  EXPECT_THAT(first->to_complete, Contains(HasSubstr("/launch/instantiate: ")));
}

TEST(Init, ManyOrNarrowOrNoSizesStillGiveASpecThatLoads) {
  for (const char* source : {"void f(float* y);", "void f(float* y, signed char n);", "void f(void* y, int n);",
                             "void f(float* y, int a, int b, int c, int d, int e, int g, int h);",
                             "void f(half* y, cudaStream_t s, bool b, unsigned char c);",
                             "__global__ void f(float* y, int n);", "__global__ void f(double* y);"}) {
    const util::TemporaryFolder folder;
    const auto first = first_spec(source, "f", "");
    ASSERT_TRUE(first) << first.error().message;
    ASSERT_TRUE(write_first_spec(folder.path(), *first));
    const auto spec = load(folder.path());
    EXPECT_TRUE(spec) << source << (spec ? "" : spec.error().message);
  }
}

}  // namespace
}  // namespace kagent::spec
