// SPDX-License-Identifier: Apache-2.0
#include "profiler/roofline.h"

#include <gtest/gtest.h>

#include "profiler/ceilings.h"
#include "util/files.h"

namespace kagent::profiler {
namespace {

KernelSpec spec_with_work(const std::string& flops, const std::string& bytes) {
  KernelSpec spec;
  spec.flops = *Expression::parse(flops);
  spec.bytes = *Expression::parse(bytes);
  return spec;
}

constexpr Ceilings kCeilings{.flops_per_s = 100e9, .bytes_per_s = 10e9};

TEST(Roofline, IsBoundByMemoryWhereTheBytesTakeLonger) {
  // 1e6 bytes take 100 us at 10 GB/s, 1e6 operations 10 us at 100 GFLOP/s.
  auto result = position(spec_with_work("n", "n"), {{"n", 1'000'000}}, 200'000, kCeilings).value().value();
  EXPECT_EQ(result.limit, Limit::memory);
  EXPECT_DOUBLE_EQ(result.share, 0.5);
  EXPECT_DOUBLE_EQ(result.bytes_per_s, 5e9);
}

TEST(Roofline, IsBoundByComputeWhereTheOperationsTakeLonger) {
  auto result = position(spec_with_work("2*n*n", "n"), {{"n", 10'000}}, 4'000'000, kCeilings).value().value();
  EXPECT_EQ(result.limit, Limit::compute);
  EXPECT_DOUBLE_EQ(result.share, 0.5);
}

TEST(Roofline, OfProductsOfNarrowFloatsIsThatOfTheTensorCores) {
  const Ceilings gpu{.flops_per_s = 60e12, .bytes_per_s = 4e12, .tensor_flops_per_s = 600e12};
  const auto roof = [&](const KernelSpec& spec, const Ceilings& ceilings) {
    return position(spec, {{"n", 1000}}, 1000, ceilings).value().value().arithmetic_roof;
  };
  KernelSpec spec = spec_with_work("60*n", "n");
  EXPECT_DOUBLE_EQ(roof(spec, gpu), 60e12);
  spec.tolerance["c"].contraction = true;
  EXPECT_DOUBLE_EQ(roof(spec, gpu), 60e12);
  spec.parameters.push_back({.name = "a", .kind = ParameterKind::input, .dtype = DType::float16, .shape = {}});
  EXPECT_DOUBLE_EQ(roof(spec, gpu), 600e12);
  EXPECT_DOUBLE_EQ(roof(spec, {.flops_per_s = 60e12, .bytes_per_s = 4e12}), 60e12);
  spec.tolerance["c"].contraction = false;
  EXPECT_DOUBLE_EQ(roof(spec, gpu), 60e12);
  KernelSpec attention = spec_with_work("500*n", "n");
  EXPECT_DOUBLE_EQ(roof(attention, gpu), 60e12) << "of fp32";
  attention.parameters = spec.parameters;
  EXPECT_DOUBLE_EQ(roof(attention, gpu), 600e12);
}

TEST(Roofline, OfHalvesAloneIsThatOfTheirPairs) {
  const Ceilings gpu{.flops_per_s = 60e12, .bytes_per_s = 4e12, .half_flops_per_s = 120e12};
  const auto roof = [](const KernelSpec& spec, const Ceilings& ceilings) {
    return position(spec, {{"n", 1000}}, 1000, ceilings).value().value().arithmetic_roof;
  };
  KernelSpec spec = spec_with_work("60*n", "n");
  spec.parameters = {{.name = "x", .kind = ParameterKind::input, .dtype = DType::bfloat16, .shape = {}},
                     {.name = "y", .kind = ParameterKind::output, .dtype = DType::bfloat16, .shape = {}},
                     {.name = "rows", .kind = ParameterKind::inout, .dtype = DType::int64, .shape = {}},
                     {.name = "factor", .kind = ParameterKind::scalar, .dtype = DType::float32, .shape = {}}};
  EXPECT_DOUBLE_EQ(roof(spec, gpu), 120e12);
  EXPECT_DOUBLE_EQ(roof(spec, {.flops_per_s = 60e12, .bytes_per_s = 4e12}), 60e12) << "pairs were not measured";
  spec.parameters[1].dtype = DType::float32;
  EXPECT_DOUBLE_EQ(roof(spec, gpu), 60e12);
}

TEST(Roofline, HasNoPositionWithoutWork) {
  EXPECT_FALSE(position(KernelSpec{}, {{"n", 1}}, 100, kCeilings).value());
  EXPECT_FALSE(position(spec_with_work("n", "n"), {{"n", 0}}, 100, kCeilings).value());
}

TEST(Roofline, OfAnOverflowingCountIsAnError) {
  EXPECT_FALSE(position(spec_with_work("n*n*n", "n"), {{"n", 1LL << 40}}, 100, kCeilings));
}

TEST(Ceilings, AreMeasuredOnceForAMachine) {
  const util::TemporaryFolder folder;
  const auto file = folder.path() / "ceilings.json";
  const Ceilings first = cached_ceilings(file, "this machine");
  EXPECT_GT(first.flops_per_s, 1e8);
  EXPECT_GT(first.bytes_per_s, 1e8);
  const Ceilings again = cached_ceilings(file, "this machine");
  EXPECT_EQ(first.flops_per_s, again.flops_per_s);
  EXPECT_EQ(first.bytes_per_s, again.bytes_per_s);
}

TEST(Ceilings, OfAVersionThatKnewFewerAreMeasuredAgain) {
  const util::TemporaryFolder folder;
  const auto file = folder.path() / "ceilings.json";
  ASSERT_TRUE(util::write_file_atomically(file, R"({"a GPU": {"flops_per_s": 1, "bytes_per_s": 1}})"));
  const Ceilings now{.flops_per_s = 2, .bytes_per_s = 2, .half_flops_per_s = 4, .tensor_flops_per_s = 8};
  int measurements = 0;
  EXPECT_EQ(cached_ceilings(file, "a GPU", [] { return Ceilings(); }).bytes_per_s, 1) << "better than nothing";
  const auto measure = [&] { return ++measurements, now; };
  EXPECT_EQ(cached_ceilings(file, "a GPU", measure).half_flops_per_s, 4);
  EXPECT_EQ(cached_ceilings(file, "a GPU", measure).tensor_flops_per_s, 8);
  EXPECT_EQ(measurements, 1);
}

TEST(Ceilings, OfABrokenCacheAreMeasuredAgain) {
  const util::TemporaryFolder folder;
  const auto file = folder.path() / "ceilings.json";
  for (const char* broken : {R"({"this machine": {"flops_per_s": -1}} trailing)", R"({"this machine": 7})",
                             R"({"this machine": {"a": []}})"}) {
    ASSERT_TRUE(util::write_file_atomically(file, broken));
    EXPECT_GT(cached_ceilings(file, "this machine").flops_per_s, 1e8) << broken;
  }
}

}  // namespace
}  // namespace kagent::profiler
