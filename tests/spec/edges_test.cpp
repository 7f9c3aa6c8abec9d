// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/golden_folder.h"
#include "spec/spec.h"

namespace kagent::spec {
namespace {

using ::testing::Contains;
using ::testing::IsSubsetOf;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// An input "x" of shape (rows, cols) of the given dtype, and an output; 64 x 96 elements.
std::string edge_json(const std::string& dtype, const std::string& more = "") {
  return R"({"kernel": "k", "entry": "k", "parameters": [
    {"name": "x", "kind": "input", "dtype": ")" +
         dtype + R"(", "shape": ["rows", "cols"]},
    {"name": "y", "kind": "output", "dtype": "float32", "shape": ["rows"]},
    {"name": "rows", "kind": "size", "dtype": "int32"}, {"name": "cols", "kind": "size", "dtype": "int32"}],
    "cases": [{"name": "c", "sizes": {"rows": 64, "cols": 96}, "timed": true}])" +
         more + "}";
}

class Edges : public ::testing::Test {
 protected:
  // The edge inputs' "x" by name.
  std::map<std::string, Tensor> edges_of(const std::string& json, std::uint64_t seed = 1) {
    const auto spec = golden.load_text(json);
    EXPECT_TRUE(spec) << spec.error().message;
    const auto inputs = edge_inputs(*spec, spec->cases[0], seed);
    EXPECT_TRUE(inputs) << inputs.error().message;
    std::map<std::string, Tensor> result;
    for (const CallInputs& one : *inputs) {
      EXPECT_EQ(one.label.substr(0, 7), "c/edge:");
      const std::string name = one.label.substr(7);
      EXPECT_TRUE(result.emplace(name.substr(0, name.find('(')), one.tensors.at("x")).second) << name;
    }
    return result;
  }
  GoldenFolder golden;
};

std::vector<std::string> names_of(const std::map<std::string, Tensor>& edges) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : edges) names.push_back(name);
  return names;
}

int count_where(const Tensor& tensor, bool (*predicate)(double)) {
  int count = 0;
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) count += predicate(tensor.at(i)) ? 1 : 0;
  return count;
}

bool is_nan(double value) {
  return std::isnan(value);
}
bool is_infinite(double value) {
  return std::isinf(value);
}

TEST_F(Edges, FloatingInputsGetEveryFloatingEdge) {
  for (const char* dtype : {"float64", "float32", "float16", "bfloat16", "float8_e5m2"}) {
    const auto names = names_of(edges_of(edge_json(dtype)));
    EXPECT_EQ(names.size(), edge_names().size() - 3) << dtype;  // less all-min, all-max, small-range
    EXPECT_THAT(edge_names(), ::testing::IsSupersetOf(names));
  }
}

TEST_F(Edges, ATypeWithoutInfinityGetsNone) {
  const auto edges = edges_of(edge_json("float8_e4m3"));
  for (const char* name : {"inf-first", "inf-last", "inf-tile-edge", "negative-inf-first", "masked-row", "masked-tail"})
    EXPECT_THAT(names_of(edges), Not(Contains(name)));
  EXPECT_EQ(count_where(edges.at("nan-first"), is_nan), 1);
  for (const auto& [name, tensor] : edges) EXPECT_EQ(count_where(tensor, is_nan) > 0, name.starts_with("nan-")) << name;
}

TEST_F(Edges, IntegerInputsGetTheirLimits) {
  const auto edges = edges_of(edge_json("uint8"));
  EXPECT_THAT(names_of(edges), UnorderedElementsAre("all-equal", "all-min", "all-max", "small-range"));
  EXPECT_EQ(edges.at("all-max").at(100), 255);
  EXPECT_EQ(edges.at("all-min").at(100), 0);
  std::set<double> small;
  for (std::int64_t i = 0; i < 6'144; ++i) small.insert(edges.at("small-range").at(i));
  EXPECT_EQ(small.size(), 2U);
}

TEST_F(Edges, IntegersStayWithinTheirDeclaredRange) {
  const auto edges =
      edges_of(edge_json("int32", R"(, "inputs": {"x": {"distribution": "integers", "low": 3, "high": 9}})"));
  EXPECT_EQ(edges.at("all-min").at(0), 3);
  EXPECT_EQ(edges.at("all-max").at(0), 9);
  for (const auto& [name, tensor] : edges)
    for (std::int64_t i = 0; i < tensor.element_count(); ++i)
      ASSERT_TRUE(tensor.at(i) >= 3 && tensor.at(i) <= 9) << name;
}

TEST_F(Edges, ANormalIntegerInputReachesTheLimitsOfItsType) {
  const auto edges = edges_of(edge_json("int8", R"(, "inputs": {"x": {"distribution": "normal", "stddev": 3}})"));
  EXPECT_EQ(edges.at("all-min").at(0), -128);
  EXPECT_EQ(edges.at("all-max").at(0), 127);
}

TEST_F(Edges, AConstantOrOneHotIntegerInputKeepsItsMeaning) {
  EXPECT_THAT(names_of(edges_of(edge_json("int32", R"(, "inputs": {"x": {"distribution": "constant", "value": 5}})"))),
              UnorderedElementsAre("all-equal"));
}

TEST_F(Edges, SkippedOnesAreLeftOut) {
  const auto edges =
      edges_of(edge_json("float32", R"(, "stress": {"skip": ["nan-first", "zeros"], "why": "undefined"})"));
  EXPECT_THAT(names_of(edges), Not(Contains("nan-first")));
  EXPECT_THAT(names_of(edges), Not(Contains("zeros")));
  EXPECT_THAT(names_of(edges), Contains("nan-last"));
}

TEST_F(Edges, NonFiniteValuesAreWhereTheirNamesSay) {
  const auto edges = edges_of(edge_json("float32"));
  EXPECT_TRUE(std::isnan(edges.at("nan-first").at(0)));
  EXPECT_TRUE(std::isnan(edges.at("nan-last").at(64 * 96 - 1)));
  EXPECT_EQ(edges.at("negative-inf-first").at(0), -HUGE_VAL);
  EXPECT_EQ(count_where(edges.at("inf-first"), is_infinite), 1);
  // Columns 3, 4, 7, 8, ... 63, 64, each in the next row.
  const Tensor& tile = edges.at("nan-tile-edge");
  EXPECT_TRUE(std::isnan(tile.at(0 * 96 + 3)));
  EXPECT_TRUE(std::isnan(tile.at(1 * 96 + 4)));
  EXPECT_TRUE(std::isnan(tile.at(8 * 96 + 63)));
  EXPECT_EQ(count_where(tile, is_nan), 10);
  EXPECT_EQ(count_where(edges.at("masked-row"), is_infinite), 96);
  EXPECT_EQ(edges.at("masked-row").at(32 * 96 + 5), -HUGE_VAL);
  EXPECT_EQ(count_where(edges.at("masked-tail"), is_infinite), 64 * 48);
}

TEST_F(Edges, ContentsAreWhatTheirNamesSay) {
  const auto edges = edges_of(edge_json("float32"));
  for (std::int64_t i = 0; i < 64 * 96; ++i) {
    ASSERT_EQ(std::fpclassify(static_cast<float>(edges.at("denormals").at(i))), FP_SUBNORMAL);
    ASSERT_EQ(edges.at("zeros").at(i), 0);
    ASSERT_TRUE(std::signbit(edges.at("negative-zero").at(i)));
    ASSERT_EQ(edges.at("all-equal").at(i), 0.75);
    ASSERT_EQ(edges.at("identity").at(i), i / 96 == i % 96 ? 1 : 0);
    ASSERT_EQ(edges.at("small-integers").at(i), std::round(edges.at("small-integers").at(i)));
    ASSERT_LE(std::fabs(edges.at("log-uniform").at(i)), 0x1p30);
    ASSERT_NE(edges.at("log-uniform").at(i), 0);
  }
  EXPECT_EQ(edges.at("largest-finite").at(0), largest_finite(DType::float32));
  EXPECT_EQ(edges.at("largest-finite").at(97), -largest_finite(DType::float32));
  EXPECT_EQ(count_where(edges.at("largest-finite"), [](double v) { return std::fabs(v) > 1e38; }), 64);
}

TEST_F(Edges, EveryContentsIsFiniteUnlessItsNameSaysOtherwise) {
  for (const char* dtype : {"float64", "float32", "float16", "bfloat16", "float8_e4m3", "float8_e5m2"})
    for (const auto& [name, tensor] : edges_of(edge_json(dtype)))
      EXPECT_EQ(count_where(tensor, [](double v) { return !std::isfinite(v); }) > 0,
                name.starts_with("nan-") || name.find("inf-") != std::string::npos || name.starts_with("masked-"))
          << dtype << " " << name;
}

TEST_F(Edges, TheSeedDecidesTheRest) {
  EXPECT_EQ(edges_of(edge_json("float32"), 1).at("log-uniform").bytes,
            edges_of(edge_json("float32"), 1).at("log-uniform").bytes);
  EXPECT_NE(edges_of(edge_json("float32"), 1).at("log-uniform").bytes,
            edges_of(edge_json("float32"), 2).at("log-uniform").bytes);
}

TEST_F(Edges, LargestValuesComeOneInputAtATime) {
  const auto spec =
      golden.load_text(scale_json("", R"(, {"name": "z", "kind": "inout", "dtype": "float32", "shape": ["cols"]})"));
  const auto edges = edge_inputs(*spec, spec->cases[0], 1);
  std::vector<std::string> labels;
  for (const CallInputs& one : *edges)
    if (one.label.find("largest") != std::string::npos) labels.push_back(one.label);
  EXPECT_THAT(labels, UnorderedElementsAre("only/edge:largest-finite(x)", "only/edge:largest-finite(z)"));
}

TEST_F(Edges, AnEmptyCaseHasNone) {
  const auto spec = golden.load_text(edge_json("float32"));
  Case empty = spec->cases[0];
  empty.sizes["rows"] = 0;
  EXPECT_TRUE(edge_inputs(*spec, empty, 1)->empty());
}

}  // namespace
}  // namespace kagent::spec
