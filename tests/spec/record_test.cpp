// SPDX-License-Identifier: Apache-2.0
#include "spec/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "spec/golden_folder.h"
#include "spec/json_text.h"
#include "spec/spec.h"

namespace kagent::spec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Record : public ::testing::Test {
 protected:
  // Loads the text and records case `index` with y = 1/3 everywhere, as float64.
  Result<std::vector<std::filesystem::path>> record_thirds(const std::string& json, std::size_t index = 0) {
    spec = golden.load_text(json).value();
    base = spec.cases[index];
    inputs = generate_inputs(spec, base, 5).value();
    Expected expected;
    for (const Parameter& parameter : spec.parameters) {
      if (!parameter.is_written()) continue;
      Tensor tensor = make_tensor(is_floating(parameter.dtype) ? DType::float64 : parameter.dtype,
                                  extents(parameter, base.sizes).value());
      for (std::int64_t i = 0; i < tensor.element_count(); ++i) tensor.set(i, 1.0 / 3);
      expected.tensors.emplace(parameter.name, std::move(tensor));
    }
    return record(spec, base, inputs, expected);
  }
  GoldenFolder golden;
  KernelSpec spec;
  Case base;
  CallInputs inputs;
};

TEST_F(Record, ARecordedCaseLoadsWithTheSameInputsAndTheRoundedResults) {
  const auto written = record_thirds(scale_json());
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_THAT(*written,
              ElementsAre(golden.path() / "only.x.npy", golden.path() / "only.y.npy", golden.path() / "kernel.json"));
  const auto again = load(golden.path());
  ASSERT_TRUE(again) << again.error().message;
  const auto other_seed = generate_inputs(*again, again->cases[0], 99);
  EXPECT_EQ(other_seed->tensors.at("x").bytes, inputs.tensors.at("x").bytes);
  const auto expected = recorded_expected(*again, again->cases[0]);
  EXPECT_EQ((*expected)->tensors.at("y").at(4), static_cast<double>(1.0F / 3));
}

TEST_F(Record, ScalarsAreFixedInTheCase) {
  ASSERT_TRUE(record_thirds(scale_json("", R"(, {"name": "alpha", "kind": "scalar", "dtype": "float32"},
      {"name": "flag", "kind": "scalar", "dtype": "bool"})")));
  const auto again = load(golden.path());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->cases[0].scalars.at("alpha"), inputs.scalars.at("alpha"));
  EXPECT_EQ(again->cases[0].scalars.at("flag"), inputs.scalars.at("flag"));
}

TEST_F(Record, AnInoutHasTwoFiles) {
  ASSERT_TRUE(
      record_thirds(scale_json("", R"(, {"name": "z", "kind": "inout", "dtype": "bfloat16", "shape": ["cols"]})")));
  const auto again = load(golden.path());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->cases[0].inputs.at("z"), golden.path() / "only.z.npy");
  EXPECT_EQ(again->cases[0].expected.at("z"), golden.path() / "only.z.expected.npy");
  EXPECT_EQ(generate_inputs(*again, again->cases[0], 1)->tensors.at("z").bytes, inputs.tensors.at("z").bytes);
}

TEST_F(Record, RecordingAgainKeepsTheInputsAndTheNames) {
  const std::string before = util::read_file(golden.path() / "x.npy").value();
  const auto written =
      record_thirds(scale_json("", "", R"(, "inputs": {"x": "x.npy"}, "expected": {"y": "sub/y.npy"})"));
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_THAT(*written, ElementsAre(golden.path() / "sub/y.npy", golden.path() / "kernel.json"));
  EXPECT_EQ(util::read_file(golden.path() / "x.npy").value(), before);
}

TEST_F(Record, OtherCasesAndTheOrderOfKeysStay) {
  const std::string json = R"({"goal": {"min_gain": 0.02}, "entry": "k", "kernel": "k",
    "cases": [{"timed": true, "name": "a", "sizes": {"n": 4}}, {"sizes": {"n": 3}, "name": "b"}],
    "parameters": [{"name": "y", "kind": "output", "dtype": "float32", "shape": ["n"]}, {"name": "n", "kind": "size", "dtype": "int32"}]})";
  ASSERT_TRUE(record_thirds(json, 1));
  EXPECT_EQ(util::read_file(golden.path() / "kernel.json").value(), R"({
  "goal": {"min_gain": 0.02},
  "entry": "k",
  "kernel": "k",
  "cases": [
    {"timed": true, "name": "a", "sizes": {"n": 4}},
    {"sizes": {"n": 3}, "name": "b", "expected": {"y": "b.y.npy"}}
  ],
  "parameters": [
    {"name": "y", "kind": "output", "dtype": "float32", "shape": ["n"]},
    {"name": "n", "kind": "size", "dtype": "int32"}
  ]
}
)");
}

TEST_F(Record, AFileOfAnotherCaseIsNotOverwritten) {
  const Tensor tensor = make_tensor(DType::float32, {2, 3});
  ASSERT_TRUE(write_npy(golden.path() / "only.y.npy", tensor));
  const std::string json = R"({"kernel": "scale", "entry": "scale", "parameters": [
    {"name": "x", "kind": "input", "dtype": "float32", "shape": ["rows", 3]},
    {"name": "y", "kind": "output", "dtype": "float32", "shape": ["rows", 3]},
    {"name": "rows", "kind": "size", "dtype": "int32"}],
    "cases": [{"name": "only", "sizes": {"rows": 2}, "timed": true},
              {"name": "other", "sizes": {"rows": 2}, "inputs": {"x": "only.y.npy"}}]})";
  const auto written = record_thirds(json);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("belongs to case 'other'"));
  EXPECT_EQ(util::read_file(golden.path() / "kernel.json").value(), json);
}

TEST_F(Record, ASpecThatChangedMeanwhileIsLeftAsItIs) {
  spec = golden.load_text(scale_json()).value();
  golden.write("kernel.json", "{broken");
  const auto written = record(spec, spec.cases[0], generate_inputs(spec, spec.cases[0], 1).value(), {});
  EXPECT_FALSE(written);
  EXPECT_EQ(util::read_file(golden.path() / "kernel.json").value(), "{broken");
}

TEST(JsonText, LongValuesAreBrokenAndShortOnesAreNot) {
  const util::Json value = {
      {"short", {1, 2, 3}}, {"long", std::vector<std::string>(12, "0123456789")}, {"empty", util::Json::object()}};
  const std::string text = json_text(value);
  EXPECT_THAT(text, HasSubstr("\"short\": [1, 2, 3]"));
  EXPECT_THAT(text, HasSubstr("\"long\": [\n    \"0123456789\",\n"));
  EXPECT_THAT(text, HasSubstr("\"empty\": {}"));
  EXPECT_EQ(util::Json::parse(text), value);
}

}  // namespace
}  // namespace kagent::spec
