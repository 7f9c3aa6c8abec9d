// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/golden_folder.h"
#include "spec/spec.h"

namespace kagent::spec {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Load : public ::testing::Test {
 protected:
  GoldenFolder golden;
};

TEST_F(Load, ReadsEveryKeyIntoTheSpec) {
  const auto spec = golden.load_text(R"({
    "kernel": "scale", "style": "launcher", "entry": "ns::scale",
    "parameters": [
      {"name": "x", "kind": "input", "dtype": "float32", "shape": ["rows", "2*cols"], "alignment": 64},
      {"name": "y", "kind": "output", "dtype": "float16", "shape": []},
      {"name": "alpha", "kind": "scalar", "dtype": "float64"},
      {"name": "rows", "kind": "size", "dtype": "int64"},
      {"name": "cols", "kind": "size", "dtype": "uint8"},
      {"name": "stream", "kind": "stream"}],
    "requires": ["cols > 0"],
    "cases": [
      {"name": "small", "sizes": {"rows": 2, "cols": 3}, "scalars": {"alpha": 0.5}},
      {"name": "large", "sizes": {"rows": 8, "cols": 255}, "timed": true, "weight": 2}],
    "reference": {"source": "reference.cpp", "function": "scale_reference"},
    "tolerance": {"y": {"atol": 0.25, "reduction_length": "rows"}},
    "inputs": {"x": {"distribution": "integers", "low": -2, "high": 5}},
    "stress": {"skip": ["zeros"], "why": "division"},
    "work": {"flops": "rows", "bytes": 12},
    "tunables": {"BLOCK": {"from": 2, "to": 20, "times": 3}, "STEP": {"from": -1, "to": 1, "step": 1}, "LIST": [5, 3]},
    "constraints": ["BLOCK > STEP"],
    "rules": {"libraries": ["m"], "max_edits": 5, "allow_algorithm_change": true, "allow_nondeterminism": true},
    "goal": {"roofline": 0.5, "max_regression": 0.02, "min_gain": 0.03}})");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->entry, "ns::scale");
  ASSERT_EQ(spec->parameters.size(), 6U);
  EXPECT_EQ(spec->parameters[0].alignment_bytes, 64);
  EXPECT_EQ(spec->parameters[0].shape[1].text(), "2*cols");
  EXPECT_TRUE(spec->parameters[1].shape.empty());
  EXPECT_EQ(spec->parameters[4].dtype, DType::uint8);
  EXPECT_EQ(spec->parameters[5].kind, ParameterKind::stream);
  EXPECT_EQ(spec->cases[0].scalars.at("alpha"), 0.5);
  EXPECT_FALSE(spec->cases[0].timed);
  EXPECT_EQ(spec->cases[1].weight, 2);
  EXPECT_EQ(spec->cases[1].sizes.at("cols"), 255);
  EXPECT_EQ(spec->reference->source, golden.path() / "reference.cpp");
  EXPECT_EQ(spec->tolerance.at("y").atol, 0.25);
  EXPECT_EQ(spec->tolerance.at("y").rtol, 1e-3);
  EXPECT_EQ(spec->tolerance.at("y").reduction_length->text(), "rows");
  EXPECT_EQ(spec->inputs.at("x").high, 5);
  EXPECT_THAT(spec->stress_skip, ElementsAre("zeros"));
  EXPECT_EQ(spec->bytes->text(), "12");
  EXPECT_THAT(spec->tunables[0].values, ElementsAre(2, 6, 18));
  EXPECT_THAT(spec->tunables[1].values, ElementsAre(-1, 0, 1));
  EXPECT_THAT(spec->tunables[2].values, ElementsAre(5, 3));
  EXPECT_EQ(spec->requirements[0].text(), "cols > 0");
  EXPECT_EQ(spec->rules.max_edits, 5);
  EXPECT_TRUE(spec->rules.allow_nondeterminism);
  EXPECT_EQ(spec->goal.roofline, 0.5);
  EXPECT_EQ(spec->goal.min_gain, 0.03);
}

TEST_F(Load, ListsEveryFileThatTheSpecIsMadeOfOnce) {
  const auto spec = golden.load_text(scale_json(R"(, "reference": {"source": "reference.cpp", "function": "f"})", "",
                                                R"(, "inputs": {"x": "x.npy"}, "expected": {"y": "x.npy"})"));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_THAT(spec->files,
              ElementsAre(golden.path() / "kernel.json", golden.path() / "reference.cpp", golden.path() / "x.npy"));
  EXPECT_EQ(spec->folder, golden.path());
}

TEST_F(Load, AFolderWithATrailingSlashIsTheSameFolder) {
  golden.write("kernel.json", scale_json());
  EXPECT_EQ(load(golden.path() / "")->folder, golden.path());
}

TEST_F(Load, EveryWrittenFloatingParameterHasATolerance) {
  const auto spec =
      golden.load_text(scale_json("", R"(, {"name": "z", "kind": "inout", "dtype": "bfloat16", "shape": [4]},
      {"name": "i", "kind": "output", "dtype": "int32", "shape": [4]})"));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->tolerance.size(), 2U);
  EXPECT_EQ(spec->tolerance.at("y").rtol, 1.3e-6);
  EXPECT_EQ(spec->tolerance.at("z").rtol, 1.6e-2);
}

TEST_F(Load, AllProblemsAreReportedAtOnceWithPointerAndFix) {
  const std::string problems = golden.problems_of(R"({"kernel": "a b", "entry": "f", "tunabels": {}, "parameters": [
    {"name": "x", "kind": "input", "dtype": "float33", "shape": ["n"]},
    {"name": "y", "kind": "outptu", "dtype": "float32", "shape": ["n"]},
    {"name": "n", "kind": "size", "dtype": "int32"}],
    "cases": [{"name": "c", "sizes": {"n": -1}, "timed": "yes"}]})");
  EXPECT_THAT(problems, HasSubstr("/tunabels: unknown key; did you mean 'tunables'?"));
  EXPECT_THAT(problems, HasSubstr("/kernel: \"a b\" is no name of a kernel; use letters"));
  EXPECT_THAT(problems, HasSubstr("/parameters/0/dtype: there is no dtype \"float33\"; did you mean 'float32'?"));
  EXPECT_THAT(problems, HasSubstr("/parameters/1/kind: there is no kind \"outptu\"; did you mean 'output'?"));
  EXPECT_THAT(problems, HasSubstr("/cases/0/sizes/n: -1 is not an integer from 0 to 2147483647"));
  EXPECT_THAT(problems, HasSubstr("/cases/0/timed: \"yes\" is not true or false"));
}

TEST_F(Load, OneMistakeDoesNotCauseComplaintsAboutItsUses) {
  EXPECT_EQ(golden.problems_of(R"({"kernel": "a", "entry": "f", "parameters": [
    {"name": "x", "kind": "input", "dtype": "float33", "shape": ["n"]},
    {"name": "y", "kind": "output", "dtype": "float32", "shape": ["n"]},
    {"name": "n", "kind": "size", "dtype": "int32"}],
    "inputs": {"x": {"distribution": "normal"}},
    "cases": [{"name": "c", "sizes": {"n": 1}, "timed": true}]})"),
            "/parameters/0/dtype: there is no dtype \"float33\"; did you mean 'float32'?");
}

TEST_F(Load, ReadsTheGeometryOfAKernel) {
  const auto spec = golden.load_text(scale_json(
      R"x(, "style": "kernel", "architecture_specific": true, "goal": {"decided_by": "hot"}, "tunables": {"BLOCK": [64]},
      "launch": {"grid": ["ceil_div(rows, BLOCK)", "cols"], "block": [64], "cluster": [2],
                 "shared_memory": "4*BLOCK", "instantiate": "scale<float>"})x",
      R"x(, {"name": "taps", "kind": "input", "dtype": "float32", "shape": [15, "5*3"], "memory": "constant"})x"));
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->style, Style::kernel);
  EXPECT_TRUE(spec->architecture_specific);
  EXPECT_EQ(spec->goal.decided_by, CacheState::hot);
  EXPECT_TRUE(spec->find_parameter("taps")->constant_memory);
  EXPECT_FALSE(spec->find_parameter("x")->constant_memory);
  ASSERT_TRUE(spec->launch);
  EXPECT_EQ(spec->launch->grid[0].text(), "ceil_div(rows, BLOCK)");
  EXPECT_EQ(spec->launch->grid[2].text(), "1");
  EXPECT_EQ(spec->launch->block[0].text(), "64");
  EXPECT_EQ(spec->launch->cluster->at(0).text(), "2");
  EXPECT_EQ(spec->launch->shared_memory->text(), "4*BLOCK");
  EXPECT_EQ(spec->launch->instance, "scale<float>");
}

TEST_F(Load, AGeometryThatCannotBeMeantIsRefusedWithTheFix) {
  const auto problems = [&](const std::string& launch, const std::string& parameters = "") {
    return golden.problems_of(scale_json(R"x(, "style": "kernel", "launch": )x" + launch, parameters));
  };
  EXPECT_EQ(golden.problems_of(scale_json(R"x(, "style": "kernel")x")),
            "/launch: missing; add \"launch\": {\"grid\": [...], \"block\": [...]}");
  EXPECT_THAT(golden.problems_of(scale_json(R"x(, "launch": {"grid": [1], "block": [1]})x")),
              HasSubstr("/launch: a launch geometry in style \"launcher\"; remove it"));
  EXPECT_EQ(problems(R"x({"grid": ["ceil_div(row, 4)"], "block": [64]})x"),
            "/launch/grid/0: there is no size or tunable 'row'; did you mean 'rows'?");
  EXPECT_THAT(problems(R"x({"grid": [1], "block": [32, 33]})x"), HasSubstr("/launch/block: more than 1024 threads"));
  EXPECT_THAT(problems(R"x({"grid": [1], "block": [32], "instantiate": "other<float>"})x"),
              HasSubstr("/launch/instantiate: \"other<float>\" is no instance of the entry; write \"scale<...>\""));
  EXPECT_THAT(problems(R"x({"grid": [1], "block": [32]})x", R"x(, {"name": "s", "kind": "stream"})x"),
              HasSubstr("/parameters/4/kind: a stream in style \"kernel\"; remove the parameter"));
  EXPECT_THAT(
      problems(R"x({"grid": [1], "block": [32]})x",
               R"x(, {"name": "t", "kind": "input", "dtype": "int8", "shape": ["cols"], "memory": "constant"})x"),
      HasSubstr("/parameters/4/shape/0: constant memory of a size that varies"));
}

TEST_F(Load, ADuplicateKeyIsNamedWhereItIs) {
  EXPECT_EQ(golden.problems_of(scale_json(R"(, "tolerance": {"y": {"rtol": 1e-6, "rtol": 1}})")),
            "/tolerance/y/rtol: the key is given twice; keep one of them");
  EXPECT_THAT(golden.problems_of(scale_json("", "", R"(, "timed": {"a": [1, {"b": 2}]})")),
              HasSubstr("/cases/0/timed: the key is given twice"));
}

TEST_F(Load, NamesThatReferToNothingGetASuggestion) {
  EXPECT_EQ(golden.problems_of(scale_json(R"(, "tolerance": {"yy": {}})")),
            "/tolerance/yy: there is no output 'yy'; the outputs are y");
  EXPECT_EQ(golden.problems_of(scale_json(R"(, "tolerance": {"x": {}})")),
            "/tolerance/x: 'x' is not an output; the outputs are y");
  EXPECT_EQ(golden.problems_of(scale_json(R"(, "work": {"flops": "2*colls"})")),
            "/work/flops: there is no size 'colls'; did you mean 'cols'?");
  EXPECT_EQ(golden.problems_of(scale_json(R"(, "stress": {"skip": ["nan-frist"], "why": "x"})")),
            "/stress/skip/0: there is no edge input \"nan-frist\"; did you mean 'nan-first'?");
}

TEST_F(Load, AConstraintOverASizeIsPointedToRequires) {
  EXPECT_THAT(
      golden.problems_of(scale_json(R"(, "tunables": {"A": [1]}, "constraints": ["A < cols"])")),
      AllOf(HasSubstr("/constraints/0: a constraint over 'cols', which is a parameter"), HasSubstr("\"requires\"")));
}

TEST_F(Load, AnExpressionThatDoesNotParseSaysWhere) {
  EXPECT_EQ(golden.problems_of(scale_json(R"(, "tunables": {"A": [1]}, "constraints": ["A = 128"])")),
            "/constraints/0: 'A = 128': unexpected '=' at character 3; use == to compare; nothing is assigned here");
}

TEST_F(Load, ExpectedValuesNeedTheInputsTheyBelongTo) {
  EXPECT_THAT(golden.problems_of(scale_json("", R"(, {"name": "alpha", "kind": "scalar", "dtype": "float32"})",
                                            R"(, "expected": {"y": "y.npy"})")),
              AllOf(HasSubstr("the input 'x' is generated anew each time; record it under \"inputs\" as well"),
                    HasSubstr("the scalar 'alpha' is generated anew each time; fix it under \"scalars\"")));
}

TEST_F(Load, RecordedFilesAreCheckedAgainstDtypeAndShape) {
  EXPECT_THAT(golden.problems_of(scale_json("", "", R"(, "inputs": {"x": "broken.npy"})")),
              HasSubstr("/cases/0/inputs/x: "));
  EXPECT_THAT(golden.problems_of(
                  scale_json("", R"(, {"name": "z", "kind": "input", "dtype": "float32", "shape": ["cols", "rows"]})",
                             R"(, "inputs": {"z": "x.npy"})")),
              HasSubstr("'x.npy' has the shape (2, 3) and 'z' has (3, 2) under these sizes"));
}

TEST_F(Load, FilesOutsideOfTheFolderAreRefused) {
  EXPECT_THAT(golden.problems_of(scale_json("", "", R"(, "inputs": {"x": "../outside.npy"})")),
              HasSubstr("not a path inside the golden folder"));
  EXPECT_THAT(golden.problems_of(scale_json("", "", R"(, "inputs": {"x": "outside.npy"})")),
              HasSubstr("a link out of the golden folder"));
  EXPECT_THAT(golden.problems_of(scale_json("", "", R"(, "inputs": {"x": "a\u0000.npy"})")),
              HasSubstr("not a path inside the golden folder"));
}

TEST_F(Load, TextThatIsNotJsonSaysLineAndColumn) {
  EXPECT_THAT(golden.problems_of("{\n  \"kernel\": }"), HasSubstr("line 2, column 13"));
  EXPECT_THAT(golden.problems_of(""), HasSubstr("line 1, column 1"));
  EXPECT_THAT(golden.problems_of(scale_json() + "}"), HasSubstr("parse error"));
  EXPECT_THAT(golden.problems_of("\xEF\xBB\xBF" + scale_json()), HasSubstr("byte order mark"));
}

TEST_F(Load, HostileTextIsAnErrorAndNotACrash) {
  EXPECT_THAT(golden.problems_of(std::string(200'000, '[')), HasSubstr("nested more than 16 deep"));
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += R"({"a":)";
  EXPECT_THAT(golden.problems_of(deep), HasSubstr("nested more than 16 deep"));
  std::string keys = "{";
  for (int i = 0; i < 5'000; ++i) keys += "\"k" + std::to_string(i) + "\":1,";
  EXPECT_THAT(golden.problems_of(keys + "\"z\":1}"), HasSubstr("more than 2000 keys"));
  EXPECT_THAT(golden.problems_of(scale_json(R"(, "constraints": [")" + std::string(9'000, '(') + R"("])")),
              HasSubstr("nested more than 64 deep"));
  EXPECT_THAT(golden.problems_of(std::string(2 << 20, ' ')), HasSubstr("more than 1 MiB"));
  EXPECT_THAT(golden.problems_of("{\"kernel\": \"\xFF\"}"), HasSubstr("invalid"));
}

TEST_F(Load, MessagesCarryNoTerminalEscapesOrLineBreaksOfTheFile) {
  const std::string problems = golden.problems_of(scale_json(R"(, "a\u001b[31m\nb": 1)"));
  EXPECT_THAT(problems, AllOf(Not(HasSubstr("\x1b")), HasSubstr("/a b: unknown key")));
}

TEST_F(Load, AMissingFileSaysHowToMakeOne) {
  const auto spec = load(golden.path() / "nowhere");
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().message, HasSubstr("nowhere/kernel.json"));
  EXPECT_THAT(spec.error().fix, HasSubstr("kagent init SOURCE ENTRY"));
}

TEST_F(Load, ThousandsOfProblemsAreCutShort) {
  std::string keys;
  for (int i = 0; i < 1'000; ++i) keys += ", \"k" + std::to_string(i) + "\": 1";
  EXPECT_THAT(golden.problems_of(scale_json(keys)), HasSubstr("and 960 more"));
}

TEST_F(Load, DefaultsAreThoseOfTheDocumentation) {
  const auto spec = golden.load_text(scale_json());
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->style, Style::launcher);
  EXPECT_EQ(spec->rules.max_edits, 3);
  EXPECT_FALSE(spec->rules.allow_nondeterminism);
  EXPECT_EQ(spec->goal.max_regression, 0.01);
  EXPECT_EQ(spec->goal.min_gain, 0.01);
  EXPECT_FALSE(spec->goal.roofline);
  EXPECT_EQ(spec->goal.decided_by, CacheState::cold);
  EXPECT_FALSE(spec->architecture_specific);
  EXPECT_FALSE(spec->launch);
  EXPECT_FALSE(spec->reference);
}

}  // namespace
}  // namespace kagent::spec
