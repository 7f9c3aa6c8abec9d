// SPDX-License-Identifier: Apache-2.0
#include "verifier/bounds.h"

#include <gtest/gtest.h>

#include "verifier/example.h"

namespace kagent::verifier {
namespace {

KernelSpec spec_with(DType dtype, Tolerance tolerance) {
  KernelSpec spec;
  spec.parameters = {{"y", ParameterKind::output, dtype, {}, 0}};
  spec.tolerance["y"] = std::move(tolerance);
  return spec;
}

TEST(Bounds, AddUpAtolRtolAndTheReductionTerm) {
  const KernelSpec spec = spec_with(DType::float32, example::tolerance(1e-3, 1e-2, "k*4"));
  const Bounds bounds = bounds_of(spec, spec.parameters[0], {{"k", 256}});
  EXPECT_DOUBLE_EQ(bounds.reduction, 4 * 0x1p-24 * 32);
  EXPECT_DOUBLE_EQ(bounds.element(-2, 100), 1e-2 + 2e-3 + 4 * 0x1p-24 * 32 * 100);
}

TEST(Bounds, HaveNoReductionTermWithoutALength) {
  const KernelSpec spec = spec_with(DType::float32, example::tolerance(1e-6));
  EXPECT_EQ(bounds_of(spec, spec.parameters[0], {}).reduction, 0);
}

TEST(Bounds, TakeALengthThatCannotBeEvaluatedAsTheStrictestOne) {
  const KernelSpec spec = spec_with(DType::float32, example::tolerance(0, 0, "8 / k"));
  EXPECT_EQ(bounds_of(spec, spec.parameters[0], {{"k", 0}}).reduction, 0);
  EXPECT_EQ(bounds_of(spec, spec.parameters[0], {}).reduction, 0);
}

TEST(Bounds, LimitTheNormByTypeAndLength) {
  const KernelSpec spec = spec_with(DType::float32, example::tolerance(0, 0, "k"));
  EXPECT_DOUBLE_EQ(bounds_of(spec, spec.parameters[0], {{"k", 16}}).norm, 1e-5);
  EXPECT_DOUBLE_EQ(bounds_of(spec, spec.parameters[0], {{"k", 4096}}).norm, 2e-5);
  const KernelSpec half = spec_with(DType::float16, {});
  EXPECT_DOUBLE_EQ(bounds_of(half, half.parameters[0], {}).norm, 2e-3);
}

TEST(Bounds, WidenTheNormOnlyForARtolLooserThanTheDefault) {
  const KernelSpec usual = spec_with(DType::bfloat16, example::tolerance(1.6e-2));
  EXPECT_DOUBLE_EQ(bounds_of(usual, usual.parameters[0], {}).norm, 1e-2);
  const KernelSpec loose = spec_with(DType::float32, example::tolerance(1e-3));
  EXPECT_DOUBLE_EQ(bounds_of(loose, loose.parameters[0], {}).norm, 1e-3);
}

TEST(Bounds, SpacingIsOneToTwoUnitsInTheLastPlaceAndNeverZero) {
  EXPECT_EQ(spacing(DType::float32, 1.0), 0x1p-23);
  EXPECT_EQ(spacing(DType::float32, -1.5), 1.5 * 0x1p-23);
  EXPECT_EQ(spacing(DType::float32, 0), 0x1p-149);
  EXPECT_EQ(spacing(DType::float64, 0), 0x1p-1074);
}

}  // namespace
}  // namespace kagent::verifier
