// SPDX-License-Identifier: Apache-2.0
#include "loop/contents.h"

#include <numeric>
#include <set>
#include <type_traits>

#include <gtest/gtest.h>

#include "loop/fake_runner.h"

namespace kagent::loop {
namespace {

class Contents : public testing::TestWithParam<std::int64_t> {};

TEST_P(Contents, AreNeverTheSameTwice) {
  const KernelSpec spec = doubling_spec(GetParam());
  auto contents = FreshContents::make(spec, spec.cases[0], 5).value();
  std::set<std::vector<std::byte>> seen;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(seen.insert(contents.next().value()->tensors.at("x").bytes).second);
}

TEST_P(Contents, DifferBetweenSeedsAndAreEqualForOne) {
  const KernelSpec spec = doubling_spec(GetParam());
  auto of_seed = [&spec](std::uint64_t seed) {
    auto contents = FreshContents::make(spec, spec.cases[0], seed).value();
    return contents.next().value()->tensors.at("x").bytes;
  };
  EXPECT_EQ(of_seed(1), of_seed(1));
  EXPECT_NE(of_seed(1), of_seed(2));
}

TEST_P(Contents, KeepTheShapeTheLabelAndTheScalars) {
  KernelSpec spec = doubling_spec(GetParam());
  spec.parameters.push_back({"scale", ParameterKind::scalar, DType::float32, {}, 0});
  auto contents = FreshContents::make(spec, spec.cases[0], 5).value();
  const CallInputs first = *contents.next().value(), second = *contents.next().value();
  EXPECT_EQ(first.label, second.label);
  EXPECT_EQ(first.tensors.at("x").shape, (std::vector{GetParam()}));
  EXPECT_EQ(first.scalars.at("scale"), second.scalars.at("scale"));
}

INSTANTIATE_TEST_SUITE_P(SmallAndLarge, Contents, testing::Values(64, 100'003));

TEST(ContentsOfValues, ChangeAsAMultisetToo) {
  KernelSpec spec = doubling_spec(1 << 20);
  spec.parameters[0].dtype = DType::uint8;
  spec.inputs["x"] = {.distribution = Distribution::integers, .low = 0, .high = 255};
  auto contents = FreshContents::make(spec, spec.cases[0], 5).value();
  std::set<std::vector<int>> histograms;
  for (int i = 0; i < 20; ++i) {
    std::vector<int> histogram(256);
    const Tensor x = contents.next().value()->tensors.at("x");
    for (const std::byte value : x.bytes) ++histogram[std::to_integer<std::size_t>(value)];
    EXPECT_TRUE(histograms.insert(histogram).second) << "a histogram could answer from memory";
  }
}

TEST(ContentsOfRows, KeepOneHotRowsOneHot) {
  for (const std::int64_t rows : {1, 300}) {
    KernelSpec spec = doubling_spec(rows * 1000);
    spec.parameters[0].shape = {Expression::parse("n / 1000").value(), Expression::parse("1000").value()};
    spec.inputs["x"] = {.distribution = Distribution::one_hot};
    spec.cases[0].sizes["n"] = rows == 1 ? 1000 : rows * 1000;
    auto contents = FreshContents::make(spec, spec.cases[0], 5).value();
    for (int i = 0; i < 10; ++i) {
      const Tensor x = contents.next().value()->tensors.at("x");
      for (std::int64_t row = 0; row < rows; ++row) {
        double sum = 0;
        for (std::int64_t j = 0; j < 1000; ++j) sum += x.at(row * 1000 + j);
        ASSERT_EQ(sum, 1) << "row " << row;
      }
    }
  }
}

TEST(ContentsOfVeryLargeTensors, ChangeWhereTheirRevisionsSay) {
  const KernelSpec spec = doubling_spec(5 << 20);
  auto contents = FreshContents::make(spec, spec.cases[0], 5).value();
  std::vector<std::byte> before = contents.next().value()->tensors.at("x").bytes;
  runner::Revisions::Held held = contents.revisions().now();
  for (int i = 0; i < 3; ++i) {
    const std::vector<std::byte>& now = contents.next().value()->tensors.at("x").bytes;
    EXPECT_NE(before, now);
    const auto changes = contents.revisions().since(held, "x");
    ASSERT_TRUE(changes);
    for (const auto& [offset, length] : *changes)
      std::copy_n(now.begin() + static_cast<std::ptrdiff_t>(offset), length,
                  before.begin() + static_cast<std::ptrdiff_t>(offset));
    EXPECT_EQ(before, now) << "something else changed";
    held = contents.revisions().now();
  }
}

TEST(ContentsOfVeryLargeTensors, HaveOneSourceOfEachRevision) {
  static_assert(!std::is_copy_constructible_v<FreshContents> && std::is_move_constructible_v<FreshContents>);
}

TEST(ContentsOfMiddlingTensors, AreSentWhole) {
  const KernelSpec spec = doubling_spec(1 << 20);
  auto contents = FreshContents::make(spec, spec.cases[0], 5).value();
  ASSERT_TRUE(contents.next());
  EXPECT_FALSE(contents.revisions().since(contents.revisions().now(), "x"));
}

TEST(ContentsOfNothing, AreEmpty) {
  const KernelSpec spec = doubling_spec(0);
  auto contents = FreshContents::make(spec, spec.cases[0], 5).value();
  EXPECT_EQ(contents.next().value()->tensors.at("x").element_count(), 0);
}

TEST(BufferBytes, CountsEveryBuffer) {
  const KernelSpec spec = doubling_spec(100);
  EXPECT_EQ(buffer_bytes(spec, spec.cases[0]).value(), 800);
}

}  // namespace
}  // namespace kagent::loop
