// SPDX-License-Identifier: Apache-2.0
#include "verifier/rules.h"

#include <functional>

#include <gmock/gmock.h>

#include "verifier/example.h"

namespace kagent::verifier {
namespace {

using example::normal_values;
using testing::HasSubstr;

// Rows of a and b, each `length` long, multiplied and summed: y[i] = sum of a[i][j] b[i][j].
struct DotProducts {
  std::vector<double> a, b;
  std::size_t length;
  std::size_t rows() const { return a.size() / length; }
};

using Rounding = std::function<float(float)>;

float as_is(float value) {
  return value;
}

float rounded_to_bits(float value, int dropped) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  bits += (1U << (dropped - 1)) - 1 + ((bits >> dropped) & 1);
  bits &= ~((1U << dropped) - 1);
  std::memcpy(&value, &bits, 4);
  return value;
}
float to_bf16(float value) {
  return rounded_to_bits(value, 16);
}
float to_tf32(float value) {
  return rounded_to_bits(value, 13);
}

// Sums in fp32 over `ways` partial sums.
std::vector<double> computed(const DotProducts& dots, int ways, const Rounding& round = as_is) {
  std::vector<double> y;
  for (std::size_t row = 0; row < dots.rows(); ++row) {
    std::vector<float> partial(static_cast<std::size_t>(ways), 0.0F);
    for (std::size_t j = 0; j < dots.length; ++j) {
      const std::size_t at = row * dots.length + j;
      const volatile float product = round(static_cast<float>(dots.a[at])) * round(static_cast<float>(dots.b[at]));
      partial[j % partial.size()] += product;
    }
    float sum = 0;
    for (const float part : partial) sum += part;
    y.push_back(sum);
  }
  return y;
}

class Contraction {
 public:
  explicit Contraction(DotProducts dots) : dots_(std::move(dots)) {
    std::vector<double> y, s;
    for (std::size_t row = 0; row < dots_.rows(); ++row) {
      double sum = 0, absolute = 0;
      for (std::size_t j = row * dots_.length; j < (row + 1) * dots_.length; ++j) {
        sum += dots_.a[j] * dots_.b[j];
        absolute += std::abs(dots_.a[j] * dots_.b[j]);
      }
      y.push_back(sum), s.push_back(absolute);
    }
    Tolerance tolerance = example::tolerance(1.3e-6, 1e-5, "k", true);
    call_ = example::OneInput(DType::float32, {1}, y, std::move(tolerance));
    call_.inputs.sizes["k"] = static_cast<std::int64_t>(dots_.length);
    call_.expected.magnitude["y"] = example::tensor(DType::float64, {static_cast<std::int64_t>(s.size())}, s);
  }

  // The verdict on one way to compute it, held against another as the baseline.
  Verdict verdict(const std::vector<double>& candidate, const std::vector<double>& baseline) const {
    const BaselineErrors errors = baseline_errors(call_.compare(baseline));
    return call_.compare(candidate, &errors);
  }
  const DotProducts& dots() const { return dots_; }

 private:
  DotProducts dots_;
  example::OneInput call_{DType::float32, {}, {}};
};

DotProducts random_signs(std::size_t rows, std::size_t length, unsigned seed) {
  return {normal_values(rows * length, seed), normal_values(rows * length, seed + 1000), length};
}

DotProducts like_signs(std::size_t rows, std::size_t length, unsigned seed) {
  DotProducts dots = random_signs(rows, length, seed);
  for (double& value : dots.a) value = std::abs(value);
  for (double& value : dots.b) value = std::abs(value);
  return dots;
}

int rejections(const std::function<DotProducts(unsigned)>& make, int ways, const Rounding& round, int tries) {
  int rejected = 0;
  for (int seed = 0; seed < tries; ++seed) {
    const Contraction contraction(make(static_cast<unsigned>(seed)));
    rejected +=
        contraction.verdict(computed(contraction.dots(), ways, round), computed(contraction.dots(), 1)).outcome !=
        Outcome::ok;
  }
  return rejected;
}

TEST(BaselineRule, NeverRefusesAReorderedSumNotEvenOfOneElement) {
  for (const int ways : {4, 8, 16, 64})
    for (const std::size_t rows : {1, 7, 64, 300}) {
      EXPECT_EQ(rejections([&](unsigned seed) { return random_signs(rows, 512, seed); }, ways, as_is, 12), 0)
          << ways << " ways, " << rows << " rows, random signs";
      EXPECT_EQ(rejections([&](unsigned seed) { return like_signs(rows, 512, seed); }, ways, as_is, 12), 0)
          << ways << " ways, " << rows << " rows, like signs";
    }
}

TEST(BaselineRule, NeverRefusesASequentialSumBesideATwofoldOne) {
  for (int seed = 0; seed < 40; ++seed) {
    const Contraction contraction(random_signs(300, 512, static_cast<unsigned>(seed)));
    EXPECT_EQ(contraction.verdict(computed(contraction.dots(), 1), computed(contraction.dots(), 2)).outcome,
              Outcome::ok);
  }
}

TEST(BaselineRule, RefusesInputsRoundedToBf16OrTf32) {
  for (const std::size_t rows : {64, 300})
    for (const std::size_t length : {64, 512, 4096}) {
      auto make = [&](unsigned seed) { return random_signs(rows, length, seed); };
      EXPECT_EQ(rejections(make, 1, to_bf16, 10), 10) << rows << " rows of " << length;
      EXPECT_EQ(rejections(make, 1, to_tf32, 10), 10) << rows << " rows of " << length;
      EXPECT_EQ(rejections(make, 16, to_tf32, 10), 10) << rows << " rows of " << length << ", sixteenfold";
    }
}

TEST(BaselineRule, RefusesABf16DotProductOfOneElementNearlyAlways) {
  EXPECT_GE(rejections([&](unsigned seed) { return random_signs(1, 512, seed); }, 1, to_bf16, 40), 36);
}

TEST(BaselineRule, NamesLessPrecisionWhereTheToleranceItselfIsLoose) {
  const std::vector<double> x = normal_values(1000, 5);
  std::vector<double> y, fine, coarse;
  for (const double value : x) {
    y.push_back(std::exp(value));
    fine.push_back(std::exp(static_cast<float>(value)));
    coarse.push_back(to_bf16(std::exp(static_cast<float>(value))));
  }
  const example::OneInput call(DType::float32, x, y, example::tolerance(1e-2));
  const BaselineErrors errors = baseline_errors(call.compare(fine));
  EXPECT_EQ(call.compare(coarse).outcome, Outcome::ok);
  const Verdict verdict = call.compare(coarse, &errors);
  EXPECT_EQ(verdict.outcome, Outcome::wrong_result);
  EXPECT_THAT(verdict.reason, HasSubstr("less precision than the baseline?"));
}

TEST(BaselineRule, AllowsOneUnitInTheLastPlaceBesideAnExactBaseline) {
  const example::OneInput call(DType::float32, {1}, std::vector<double>(200, 1.0), example::tolerance(1e-3));
  std::vector<double> right(200, 1.0), one_off = right, many_off = right;
  const BaselineErrors errors = baseline_errors(call.compare(right));
  for (double& value : one_off) value = 1 + 0x1p-23;
  for (double& value : many_off) value = 1 + 0x1p-12;
  EXPECT_EQ(call.compare(one_off, &errors).outcome, Outcome::ok);
  EXPECT_EQ(call.compare(many_off, &errors).outcome, Outcome::wrong_result);
}

TEST(BaselineRule, TellsNothingWhereTheExpectedValuesMayBeTheBaselinesOwn) {
  example::OneInput call(DType::float32, {1}, std::vector<double>(200, 1.0), example::tolerance(1e-3));
  const BaselineErrors errors = baseline_errors(call.compare(std::vector<double>(200, 1.0)));
  const std::vector<double> off(200, 1 + 0x1p-16);
  for (const ExpectedFrom from : {ExpectedFrom::baseline, ExpectedFrom::recorded}) {
    call.expected.from = from;
    EXPECT_EQ(call.compare(off, &errors).outcome, Outcome::ok);
  }
  call.expected.from = ExpectedFrom::reference;
  EXPECT_EQ(call.compare(off, &errors).outcome, Outcome::wrong_result);
}

}  // namespace
}  // namespace kagent::verifier
