// SPDX-License-Identifier: Apache-2.0
#include "spec/random.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace kagent::spec {
namespace {

constexpr int kCount = 200'000;

Tensor filled(const InputRecipe& recipe, DType dtype = DType::float64, std::vector<std::int64_t> shape = {kCount},
              std::uint64_t seed = 1) {
  Tensor tensor = make_tensor(dtype, std::move(shape));
  fill(tensor, recipe, RandomStream(seed, "case", "x"));
  return tensor;
}

double mean_of(const Tensor& tensor) {
  double sum = 0;
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) sum += tensor.at(i);
  return sum / static_cast<double>(tensor.element_count());
}

TEST(RandomStream, DependsOnSeedCaseAndNameAndOnHowTheyAreSplit) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed : {0, 1, 2})
    for (const char* case_name : {"a", "b", "ab", ""})
      for (const char* name : {"x", "y", "bx", ""}) first.insert(RandomStream(seed, case_name, name).bits(0));
  EXPECT_EQ(first.size(), 3U * 4U * 4U);
  EXPECT_EQ(RandomStream(7, "a", "x").bits(5), RandomStream(7, "a", "x").bits(5));
}

TEST(RandomStream, EveryBitIsSetHalfOfTheTime) {
  const RandomStream stream(9, "c", "x");
  for (int bit = 0; bit < 64; ++bit) {
    int ones = 0;
    for (std::uint64_t i = 0; i < 4'096; ++i) ones += static_cast<int>(stream.bits(i) >> bit & 1);
    EXPECT_NEAR(ones, 2'048, 6 * 32) << bit;  // six standard deviations
  }
}

TEST(Fill, NormalQuantilesAgreeWithTheErrorFunction) {
  const RandomStream stream(1, "case", "x");
  const Tensor tensor = filled({.distribution = Distribution::normal, .mean = 0, .stddev = 1});
  for (std::int64_t i = 0; i < 2'000; ++i) {
    const double probability = 0.5 * std::erfc(-tensor.at(i) / std::sqrt(2.0));
    ASSERT_NEAR(probability, stream.uniform(static_cast<std::uint64_t>(i)), 2e-9);
  }
}

TEST(Fill, NormalHasItsMeanAndDeviation) {
  const Tensor tensor = filled({.distribution = Distribution::normal, .mean = 3, .stddev = 2});
  const double mean = mean_of(tensor);
  double squares = 0;
  for (std::int64_t i = 0; i < kCount; ++i) squares += (tensor.at(i) - mean) * (tensor.at(i) - mean);
  EXPECT_NEAR(mean, 3, 0.03);
  EXPECT_NEAR(std::sqrt(squares / kCount), 2, 0.03);
}

TEST(Fill, UniformStaysWithinItsLimits) {
  const Tensor tensor = filled({.distribution = Distribution::uniform, .low = -1, .high = 3});
  for (std::int64_t i = 0; i < kCount; ++i) ASSERT_TRUE(tensor.at(i) >= -1 && tensor.at(i) < 3);
  EXPECT_NEAR(mean_of(tensor), 1, 0.02);
}

TEST(Fill, IntegersReachBothLimits) {
  for (DType dtype : {DType::int8, DType::float16, DType::int64}) {
    const Tensor tensor = filled({.distribution = Distribution::integers, .low = -2, .high = 2}, dtype);
    std::set<double> values;
    for (std::int64_t i = 0; i < kCount; ++i) values.insert(tensor.at(i));
    EXPECT_EQ(values, (std::set<double>{-2, -1, 0, 1, 2}));
  }
}

TEST(Fill, LogUniformDrawsMagnitudesOfBothSigns) {
  const Tensor tensor = filled({.distribution = Distribution::log_uniform, .low = 0.25, .high = 4});
  int negative = 0, below_one = 0;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const double magnitude = std::fabs(tensor.at(i));
    ASSERT_TRUE(magnitude >= 0.25 && magnitude <= 4);
    negative += tensor.at(i) < 0 ? 1 : 0;
    below_one += magnitude < 1 ? 1 : 0;
  }
  EXPECT_NEAR(negative, kCount / 2, kCount / 50);
  EXPECT_NEAR(below_one, kCount / 2, kCount / 50);
}

TEST(Fill, OneHotHasASingleOneInEachRow) {
  const Tensor tensor = filled({.distribution = Distribution::one_hot}, DType::float32, {50, 7});
  std::set<std::int64_t> columns;
  for (std::int64_t row = 0; row < 50; ++row) {
    double sum = 0;
    for (std::int64_t column = 0; column < 7; ++column) {
      sum += tensor.at(row * 7 + column);
      if (tensor.at(row * 7 + column) == 1) columns.insert(column);
    }
    ASSERT_EQ(sum, 1);
  }
  EXPECT_GT(columns.size(), 4U);
}

TEST(Fill, ValuesBeyondTheTypeAreCutToItsFiniteRange) {
  for (DType dtype : {DType::float16, DType::float8_e4m3, DType::float8_e5m2}) {
    const Tensor tensor = filled({.distribution = Distribution::normal, .stddev = 1e9}, dtype, {1'000});
    for (std::int64_t i = 0; i < 1'000; ++i) ASSERT_LE(std::fabs(tensor.at(i)), largest_finite(dtype));
  }
}

TEST(Fill, AnElementDoesNotDependOnTheSizeOfTheTensor) {
  const InputRecipe recipe;
  const Tensor small = filled(recipe, DType::float32, {10}), large = filled(recipe, DType::float32, {5'000});
  for (std::int64_t i = 0; i < 10; ++i) EXPECT_EQ(small.at(i), large.at(i));
}

TEST(Fill, EmptyTensorsStayEmpty) {
  for (auto distribution : {Distribution::normal, Distribution::one_hot, Distribution::constant})
    EXPECT_TRUE(filled({.distribution = distribution}, DType::float32, {3, 0}).bytes.empty());
}

TEST(RecipeOf, DefaultsDependOnTheDtype) {
  KernelSpec spec;
  const auto recipe = [&](DType dtype) {
    return recipe_of(spec, {.name = "x", .kind = ParameterKind::input, .dtype = dtype, .shape = {}});
  };
  EXPECT_EQ(recipe(DType::float32).distribution, Distribution::normal);
  EXPECT_EQ(recipe(DType::uint8).high, 255);
  EXPECT_EQ(recipe(DType::int8).low, -128);
  EXPECT_EQ(recipe(DType::int32).low, -1000);
  EXPECT_EQ(recipe(DType::uint64).low, 0);
  EXPECT_EQ(recipe(DType::boolean).high, 1);
}

}  // namespace
}  // namespace kagent::spec
