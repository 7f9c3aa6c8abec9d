// SPDX-License-Identifier: Apache-2.0
#include "spec/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace kagent::spec {
namespace {

// Inverse of the normal distribution function by Acklam's rational approximation (relative error under 1.15e-9): the
// middle region needs no library function, which makes it several times faster than Box-Muller.
constexpr double kA[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                         1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
constexpr double kB[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01,
                         -1.328068155288572e+01};
constexpr double kC[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                         -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
constexpr double kD[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
constexpr double kTail = 0.02425;

double normal_tail(double p) {  // p <= kTail
  const double q = std::sqrt(-2 * std::log(p));
  return (((((kC[0] * q + kC[1]) * q + kC[2]) * q + kC[3]) * q + kC[4]) * q + kC[5]) /
         ((((kD[0] * q + kD[1]) * q + kD[2]) * q + kD[3]) * q + 1);
}

double normal_quantile(double p) {
  if (p < kTail) return normal_tail(p);
  if (p > 1 - kTail) return -normal_tail(1 - p);
  const double q = p - 0.5, r = q * q;
  return (((((kA[0] * r + kA[1]) * r + kA[2]) * r + kA[3]) * r + kA[4]) * r + kA[5]) * q /
         (((((kB[0] * r + kB[1]) * r + kB[2]) * r + kB[3]) * r + kB[4]) * r + 1);
}

constexpr std::uint64_t kBlock = 512;  // elements that are drawn before they are converted

// Calls store(index, value) for every element.
template <class Draw>
void fill_with(Tensor& tensor, const Draw& draw_element) {
  const auto count = static_cast<std::uint64_t>(tensor.element_count());
  const std::size_t item = size_bytes(tensor.dtype);
  const double limit = is_floating(tensor.dtype) ? largest_finite(tensor.dtype) : HUGE_VAL;
  std::array<double, kBlock> block;
  for (std::uint64_t first = 0; first < count; first += kBlock) {
    const std::uint64_t size = std::min(kBlock, count - first);
    for (std::uint64_t i = 0; i < size; ++i) block[i] = std::clamp(draw_element(first + i), -limit, limit);
    std::byte* target = tensor.bytes.data() + first * item;
    if (tensor.dtype == DType::float32) {  // worth a loop that the compiler can vectorise
      for (std::uint64_t i = 0; i < size; ++i) {
        const auto value = static_cast<float>(block[i]);
        std::memcpy(target + i * item, &value, item);
      }
    } else {
      for (std::uint64_t i = 0; i < size; ++i) store_from_double(tensor.dtype, block[i], target + i * item);
    }
  }
}

double log_uniform(const InputRecipe& recipe, const RandomStream& stream, std::uint64_t index) {
  const double low = std::log2(recipe.low), high = std::log2(recipe.high);
  const double magnitude = std::exp2(low + (high - low) * stream.uniform(index));
  return (stream.bits(index) & 1) != 0 ? -magnitude : magnitude;
}

double integer(const InputRecipe& recipe, const RandomStream& stream, std::uint64_t index) {
  return recipe.low +
         std::min(std::floor(stream.uniform(index) * (recipe.high - recipe.low + 1)), recipe.high - recipe.low);
}

// One 1 in each row along the last axis.
void fill_one_hot(Tensor& tensor, const RandomStream& stream) {
  std::fill(tensor.bytes.begin(), tensor.bytes.end(), std::byte{0});
  const std::int64_t count = tensor.element_count();
  if (count == 0) return;
  const std::int64_t length = tensor.shape.empty() ? 1 : tensor.shape.back();
  for (std::int64_t row = 0; row < count / length; ++row) {
    const auto column = stream.below(static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(length));
    tensor.set(row * length + static_cast<std::int64_t>(column), 1);
  }
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view case_name, std::string_view name) : key_(seed) {
  // Absorbs the names byte by byte, with a separator that is no byte.
  const auto absorb = [this](std::uint64_t value) { key_ = bits(value); };
  for (const char c : case_name) absorb(static_cast<unsigned char>(c));
  absorb(256);
  for (const char c : name) absorb(static_cast<unsigned char>(c));
}

double RandomStream::normal(std::uint64_t index) const {
  return normal_quantile(uniform(index));
}

void fill(Tensor& tensor, const InputRecipe& recipe, const RandomStream& stream) {
  const bool whole = !is_floating(tensor.dtype);
  switch (recipe.distribution) {
    case Distribution::normal:
      return fill_with(tensor, [&](std::uint64_t i) { return recipe.mean + recipe.stddev * stream.normal(i); });
    case Distribution::uniform:
      return fill_with(tensor, [&](std::uint64_t i) {
        const double value = recipe.low + (recipe.high - recipe.low) * stream.uniform(i);
        return whole ? std::floor(value) : value;
      });
    case Distribution::log_uniform:
      return fill_with(tensor, [&](std::uint64_t i) { return log_uniform(recipe, stream, i); });
    case Distribution::integers:
      return fill_with(tensor, [&](std::uint64_t i) { return integer(recipe, stream, i); });
    case Distribution::constant:
      return fill_with(tensor, [&](std::uint64_t) { return recipe.value; });
    case Distribution::one_hot:
      return fill_one_hot(tensor, stream);
  }
}

double draw(DType dtype, const InputRecipe& recipe, const RandomStream& stream) {
  Tensor scalar = make_tensor(dtype, {});
  fill(scalar, recipe, stream);
  return scalar.at(0);
}

InputRecipe recipe_of(const KernelSpec& spec, const Parameter& parameter) {
  if (const auto found = spec.inputs.find(parameter.name); found != spec.inputs.end()) return found->second;
  InputRecipe recipe;
  if (is_floating(parameter.dtype)) return recipe;
  recipe.distribution = Distribution::integers;
  switch (parameter.dtype) {
    case DType::boolean:
      recipe.low = 0, recipe.high = 1;
      break;
    case DType::int8:
      recipe.low = -128, recipe.high = 127;
      break;
    case DType::uint8:
      recipe.low = 0, recipe.high = 255;
      break;
    default:
      recipe.low = is_signed_integer(parameter.dtype) ? -1000 : 0, recipe.high = 1000;
  }
  return recipe;
}

}  // namespace kagent::spec
