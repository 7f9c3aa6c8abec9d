// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/golden_folder.h"
#include "spec/spec.h"

namespace kagent::spec {
namespace {

using ::testing::Contains;

std::string sized_json(const std::string& cases, const std::string& more = "", const std::string& dtype = "int32") {
  return R"({"kernel": "k", "entry": "k", "parameters": [
    {"name": "x", "kind": "input", "dtype": "float32", "shape": ["rows", "cols"]},
    {"name": "y", "kind": "output", "dtype": "float32", "shape": ["rows"]},
    {"name": "rows", "kind": "size", "dtype": ")" +
         dtype + R"("}, {"name": "cols", "kind": "size", "dtype": "int32"},
    {"name": "axis", "kind": "size", "dtype": "int32"}], "cases": [)" +
         cases + "]" + more + "}";
}

const std::string kUsual = R"({"name": "c", "sizes": {"rows": 40, "cols": 60, "axis": 1}, "timed": true},
  {"name": "large", "sizes": {"rows": 4000, "cols": 6000, "axis": 1}, "timed": true})";

class Hidden : public ::testing::Test {
 protected:
  KernelSpec loaded(const std::string& json) {
    auto spec = golden.load_text(json);
    EXPECT_TRUE(spec) << spec.error().message;
    return std::move(*spec);
  }
  static std::set<Sizes> sizes_of(const std::vector<Case>& cases) {
    std::set<Sizes> sizes;
    for (const Case& one : cases) EXPECT_TRUE(sizes.insert(one.sizes).second) << one.name;
    return sizes;
  }
  GoldenFolder golden;
};

Sizes sizes(std::int64_t rows, std::int64_t cols) {
  return {{"rows", rows}, {"cols", cols}, {"axis", 1}};
}

TEST_F(Hidden, SizesNearTheCasesAreTried) {
  const KernelSpec spec = loaded(sized_json(kUsual));
  const auto found = sizes_of(hidden_cases(spec, 1));
  for (const Sizes& wanted : {sizes(1, 1), sizes(41, 60), sizes(39, 60), sizes(40, 61), sizes(40, 59), sizes(37, 59)})
    EXPECT_THAT(found, Contains(wanted));
}

TEST_F(Hidden, TheSecretOnesDependOnTheSeedAlone) {
  const KernelSpec spec = loaded(sized_json(kUsual));
  EXPECT_EQ(sizes_of(hidden_cases(spec, 1)), sizes_of(hidden_cases(spec, 1)));
  EXPECT_NE(sizes_of(hidden_cases(spec, 1)), sizes_of(hidden_cases(spec, 2)));
}

TEST_F(Hidden, NoneIsACaseOfTheSpecOrLargerThanItsLargest) {
  const KernelSpec spec =
      loaded(sized_json(R"({"name": "c", "sizes": {"rows": 40, "cols": 60, "axis": 1}, "timed": true})"));
  for (const Case& one : hidden_cases(spec, 3)) {
    EXPECT_NE(one.sizes, spec.cases[0].sizes);
    EXPECT_LE(one.sizes.at("rows") * one.sizes.at("cols") + one.sizes.at("rows"), 40 * 60 + 40) << one.name;
    EXPECT_FALSE(one.timed);
    EXPECT_TRUE(one.inputs.empty() && one.expected.empty());
  }
}

TEST_F(Hidden, ASizeThatNoShapeUsesKeepsItsValue) {
  for (const Case& one : hidden_cases(loaded(sized_json(kUsual)), 1)) EXPECT_EQ(one.sizes.at("axis"), 1);
}

TEST_F(Hidden, OneEmptyCaseForEachSizeWhereZeroIsAllowed) {
  const auto empty_of = [](const std::vector<Case>& cases) {
    std::vector<std::string> names;
    for (const Case& one : cases)
      if (one.name.starts_with("empty[")) names.push_back(one.name);
    return names;
  };
  EXPECT_THAT(empty_of(hidden_cases(loaded(sized_json(kUsual)), 1)),
              ::testing::ElementsAre("empty[axis=1,cols=0,rows=40]", "empty[axis=1,cols=60,rows=0]"));
  EXPECT_THAT(empty_of(hidden_cases(loaded(sized_json(kUsual, R"(, "requires": ["cols > 0"])")), 1)),
              ::testing::ElementsAre("empty[axis=1,cols=60,rows=0]"));
}

TEST_F(Hidden, EveryOneSatisfiesTheRequirements) {
  for (const char* requirement :
       {"cols % 4 == 0", "rows == cols", "rows % 16 == 0 && cols % 32 == 0", "rows * 2 <= cols"}) {
    const std::string cases = R"({"name": "c", "sizes": {"rows": 64, "cols": 64, "axis": 1}, "timed": true},
      {"name": "d", "sizes": {"rows": 32, "cols": 128, "axis": 1}, "timed": true})";
    const std::string of_case = std::string(requirement) == "rows == cols"
                                    ? R"({"name": "c", "sizes": {"rows": 64, "cols": 64, "axis": 1}, "timed": true})"
                                : std::string(requirement) == "rows * 2 <= cols"
                                    ? R"({"name": "d", "sizes": {"rows": 32, "cols": 128, "axis": 1}, "timed": true})"
                                    : cases;
    const KernelSpec spec = loaded(sized_json(of_case, R"(, "requires": [")" + std::string(requirement) + "\"]"));
    const auto hidden = hidden_cases(spec, 1);
    EXPECT_FALSE(hidden.empty()) << requirement;
    for (const Case& one : hidden) EXPECT_NE(*evaluate(spec.requirements[0], one.sizes), 0) << one.name;
  }
}

TEST_F(Hidden, WhereNothingElseIsAllowedThereIsNone) {
  const KernelSpec spec =
      loaded(sized_json(R"({"name": "c", "sizes": {"rows": 40, "cols": 60, "axis": 1}, "timed": true})",
                        R"(, "requires": ["rows == 40", "cols == 60"])"));
  EXPECT_TRUE(hidden_cases(spec, 1).empty());
}

TEST_F(Hidden, TheyStaySmallWhenAllCasesAreLarge) {
  const KernelSpec spec =
      loaded(sized_json(R"({"name": "c", "sizes": {"rows": 100000, "cols": 100000, "axis": 1}, "timed": true})",
                        R"(, "work": {"flops": "rows*cols"}, "requires": ["rows % 32 == 0"])"));
  const auto hidden = hidden_cases(spec, 1);
  EXPECT_GT(hidden.size(), 5U);
  for (const Case& one : hidden) EXPECT_LT(one.sizes.at("rows") * one.sizes.at("cols"), 1'000'000) << one.name;
}

TEST_F(Hidden, NoneExceedsTheTypeOfItsSize) {
  const KernelSpec spec =
      loaded(sized_json(R"({"name": "c", "sizes": {"rows": 127, "cols": 600, "axis": 1}, "timed": true},
      {"name": "d", "sizes": {"rows": 100, "cols": 2000, "axis": 1}, "timed": true})",
                        "", "int8"));
  for (const Case& one : hidden_cases(spec, 1)) EXPECT_LE(one.sizes.at("rows"), 127);
}

TEST_F(Hidden, AKernelWithoutSizesHasNone) {
  EXPECT_TRUE(hidden_cases(loaded(R"({"kernel": "k", "entry": "k", "parameters": [
    {"name": "y", "kind": "output", "dtype": "float32", "shape": [4]}], "cases": [{"name": "c", "timed": true}]})"),
                           1)
                  .empty());
}

TEST_F(Hidden, ManySizesDoNotMeanManyCases) {
  std::string parameters, sizes, shape;
  for (int i = 0; i < 8; ++i) {
    const std::string name = "n" + std::to_string(i);
    parameters += R"(, {"name": ")" + name + R"(", "kind": "size", "dtype": "int32"})";
    sizes += (i == 0 ? "" : ", ") + ("\"" + name + "\": 3");
    shape += (i == 0 ? "\"" : ", \"") + name + "\"";
  }
  const KernelSpec spec =
      loaded(R"({"kernel": "k", "entry": "k", "parameters": [
    {"name": "y", "kind": "output", "dtype": "float32", "shape": [)" +
             shape + "]}" + parameters + R"(], "cases": [{"name": "c", "sizes": {)" + sizes + R"(}, "timed": true}]})");
  EXPECT_LE(hidden_cases(spec, 1).size(), 18U);
}

TEST_F(Hidden, EdgeInputsGetACaseThatIsLargeEnoughAndNotTooLarge) {
  const KernelSpec spec =
      loaded(sized_json(R"({"name": "tiny", "sizes": {"rows": 1, "cols": 1, "axis": 1}, "timed": true},
      {"name": "good", "sizes": {"rows": 70, "cols": 60, "axis": 1}, "timed": true},
      {"name": "large", "sizes": {"rows": 4000, "cols": 6000, "axis": 1}, "timed": true})"));
  EXPECT_EQ(edge_case(spec)->name, "good");
  const KernelSpec large =
      loaded(sized_json(R"({"name": "large", "sizes": {"rows": 4000, "cols": 6000, "axis": 1}, "timed": true})"));
  EXPECT_LT(edge_case(large)->sizes.at("rows") * edge_case(large)->sizes.at("cols"), 1'000'000);
  EXPECT_TRUE(edge_case(large)->name.starts_with("large["));
  const KernelSpec tiny =
      loaded(sized_json(R"({"name": "tiny", "sizes": {"rows": 1, "cols": 3, "axis": 1}, "timed": true})"));
  EXPECT_EQ(edge_case(tiny)->name, "tiny");
}

}  // namespace
}  // namespace kagent::spec
