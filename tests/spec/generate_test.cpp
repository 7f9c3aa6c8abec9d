// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/golden_folder.h"
#include "spec/spec.h"

namespace kagent::spec {
namespace {

using ::testing::HasSubstr;

class Generate : public ::testing::Test {
 protected:
  KernelSpec loaded(const std::string& json) {
    auto spec = golden.load_text(json);
    EXPECT_TRUE(spec) << spec.error().message;
    return std::move(*spec);
  }
  GoldenFolder golden;
};

TEST_F(Generate, TheSameSeedGivesTheSameContentsAndAnotherOneOthers) {
  const KernelSpec spec = loaded(scale_json());
  const auto first = generate_inputs(spec, spec.cases[0], 1), again = generate_inputs(spec, spec.cases[0], 1);
  const auto other = generate_inputs(spec, spec.cases[0], 2);
  EXPECT_EQ(first->tensors.at("x").bytes, again->tensors.at("x").bytes);
  EXPECT_NE(first->tensors.at("x").bytes, other->tensors.at("x").bytes);
  EXPECT_EQ(first->label, "only");
  EXPECT_EQ(first->sizes, spec.cases[0].sizes);
}

TEST_F(Generate, OnlyWhatTheKernelReadsIsGenerated) {
  const KernelSpec spec = loaded(scale_json("", R"(, {"name": "z", "kind": "inout", "dtype": "int8", "shape": ["cols"]},
      {"name": "w", "kind": "workspace", "dtype": "int8", "shape": ["cols"]})"));
  const auto inputs = generate_inputs(spec, spec.cases[0], 1);
  EXPECT_EQ(inputs->tensors.size(), 2U);
  EXPECT_EQ(inputs->tensors.at("z").shape, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(inputs->tensors.at("z").dtype, DType::int8);
}

TEST_F(Generate, RecordedInputsAreRead) {
  const KernelSpec spec = loaded(scale_json("", "", R"(, "inputs": {"x": "x.npy"})"));
  const auto inputs = generate_inputs(spec, spec.cases[0], 1);
  ASSERT_TRUE(inputs) << inputs.error().message;
  for (int i = 0; i < 6; ++i) EXPECT_EQ(inputs->tensors.at("x").at(i), i + 0.5);
}

TEST_F(Generate, ARecordedFileThatChangedItsShapeIsAnError) {
  const KernelSpec spec = loaded(scale_json("", "", R"(, "inputs": {"x": "x.npy"})"));
  ASSERT_TRUE(write_npy(golden.path() / "x.npy", make_tensor(DType::float32, {6})));
  EXPECT_THAT(generate_inputs(spec, spec.cases[0], 1).error().message,
              HasSubstr("has the shape (6,) and 'x' has (2, 3)"));
}

TEST_F(Generate, ScalarsAreFixedByTheCaseOrDrawnFromTheirRecipe) {
  const KernelSpec spec = loaded(scale_json(R"(, "inputs": {"n": {"distribution": "constant", "value": 7}})",
                                            R"(, {"name": "alpha", "kind": "scalar", "dtype": "float32"},
      {"name": "beta", "kind": "scalar", "dtype": "float32"}, {"name": "n", "kind": "scalar", "dtype": "int16"})",
                                            R"(, "scalars": {"alpha": 0.1})"));
  const auto inputs = generate_inputs(spec, spec.cases[0], 1);
  EXPECT_EQ(inputs->scalars.at("alpha"), static_cast<double>(0.1F));
  EXPECT_EQ(inputs->scalars.at("n"), 7);
  EXPECT_NE(inputs->scalars.at("beta"), generate_inputs(spec, spec.cases[0], 2)->scalars.at("beta"));
  EXPECT_EQ(inputs->scalars.at("beta"), static_cast<float>(inputs->scalars.at("beta")));
}

TEST_F(Generate, SizesBeyondTheMachineAreAnErrorAndNotACrash) {
  const KernelSpec spec = loaded(scale_json());
  Case huge = spec.cases[0];
  huge.sizes = {{"rows", 2'000'000'000}, {"cols", 2'000'000'000}};
  EXPECT_THAT(generate_inputs(spec, huge, 1).error().message, HasSubstr("more bytes than 64 bits can count"));
  huge.sizes = {{"rows", 2'000'000'000}, {"cols", 500'000'000}};
  EXPECT_THAT(generate_inputs(spec, huge, 1).error().message, HasSubstr("do not fit into this machine's memory"));
}

TEST_F(Generate, RecordedExpectedValuesAreWidenedForFloatsOnly) {
  const KernelSpec spec = loaded(scale_json("", "", R"(, "inputs": {"x": "x.npy"}, "expected": {"y": "y.npy"})"));
  const auto expected = recorded_expected(spec, spec.cases[0]);
  ASSERT_TRUE(expected && *expected);
  EXPECT_EQ((*expected)->from, ExpectedFrom::recorded);
  EXPECT_EQ((*expected)->tensors.at("y").dtype, DType::float64);
  EXPECT_EQ((*expected)->tensors.at("y").at(5), 5.5);
}

TEST_F(Generate, ACaseWithoutExpectedFilesHasNone) {
  const KernelSpec spec = loaded(scale_json());
  const auto expected = recorded_expected(spec, spec.cases[0]);
  ASSERT_TRUE(expected);
  EXPECT_FALSE(*expected);
}

}  // namespace
}  // namespace kagent::spec
