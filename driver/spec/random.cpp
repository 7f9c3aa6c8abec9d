// SPDX-License-Identifier: Apache-2.0
#include "spec/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "util/parallel.h"

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

double normal_middle(double p) {
  const double q = p - 0.5, r = q * q;
  return (((((kA[0] * r + kA[1]) * r + kA[2]) * r + kA[3]) * r + kA[4]) * r + kA[5]) * q /
         (((((kB[0] * r + kB[1]) * r + kB[2]) * r + kB[3]) * r + kB[4]) * r + 1);
}

double normal_quantile(double p) {
  if (p < kTail) return normal_tail(p);
  if (p > 1 - kTail) return -normal_tail(1 - p);
  return normal_middle(p);
}

constexpr std::uint64_t kBlock = 512;  // elements that are drawn before they are converted
static_assert(util::kElementsAChunk % kBlock == 0);
using Block = std::array<double, kBlock>;

// Rounds to nearest even without a call into the library, so that the loop around it is vectorised; |value| < 2^51.
double rounded(double value) {
  constexpr double kShift = 0x1.8p52;
  return (value + kShift) - kShift;
}

template <class T>
void convert(const Block& block, std::uint64_t size, std::byte* target) {
  std::array<T, kBlock> typed;
  if constexpr (std::is_floating_point_v<T>) {
    for (std::uint64_t i = 0; i < size; ++i) typed[i] = static_cast<T>(block[i]);
  } else {
    constexpr double kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
    for (std::uint64_t i = 0; i < size; ++i)
      typed[i] = static_cast<T>(rounded(std::min(std::max(block[i], kLow), kHigh)));
  }
  std::memcpy(target, typed.data(), size * sizeof(T));
}

void convert(DType dtype, const Block& block, std::uint64_t size, std::byte* target) {
  switch (dtype) {
    case DType::float64:
      return convert<double>(block, size, target);
    case DType::float32:
      return convert<float>(block, size, target);
    case DType::int8:
      return convert<std::int8_t>(block, size, target);
    case DType::int16:
      return convert<std::int16_t>(block, size, target);
    case DType::int32:
      return convert<std::int32_t>(block, size, target);
    case DType::uint8:
      return convert<std::uint8_t>(block, size, target);
    case DType::uint16:
      return convert<std::uint16_t>(block, size, target);
    case DType::uint32:
      return convert<std::uint32_t>(block, size, target);
    case DType::float16:
    case DType::bfloat16:
    case DType::float8_e4m3:
    case DType::float8_e5m2:
    case DType::int64:
    case DType::uint64:
    case DType::boolean:
      for (std::uint64_t i = 0; i < size; ++i) store_from_double(dtype, block[i], target + i * size_bytes(dtype));
  }
}

// `draw_block` fills the first `size` values of a block with those from index `first` on, from several threads.
template <class DrawBlock>
void fill_blocks(Tensor& tensor, const DrawBlock& draw_block) {
  const double limit = is_floating(tensor.dtype) ? largest_finite(tensor.dtype) : HUGE_VAL;
  util::parallel_chunks(tensor.element_count(), util::kElementsAChunk,
                        [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                          Block block;
                          const auto last = static_cast<std::uint64_t>(end);
                          for (auto first = static_cast<std::uint64_t>(begin); first < last; first += kBlock) {
                            const std::uint64_t size = std::min(kBlock, last - first);
                            draw_block(first, size, block);
                            for (std::uint64_t i = 0; i < size; ++i)
                              block[i] = std::min(std::max(block[i], -limit), limit);
                            convert(tensor.dtype, block, size, tensor.bytes.data() + first * size_bytes(tensor.dtype));
                          }
                        });
}

template <class Draw>
void fill_with(Tensor& tensor, const Draw& draw_element) {
  fill_blocks(tensor, [&](std::uint64_t first, std::uint64_t size, Block& block) {
    for (std::uint64_t i = 0; i < size; ++i) block[i] = draw_element(first + i);
  });
}

// normal_quantile() of each, with the middle region computed for all, and the tails put in after.
void fill_normal(Tensor& tensor, const InputRecipe& recipe, const RandomStream& stream) {
  fill_blocks(tensor, [&](std::uint64_t first, std::uint64_t size, Block& block) {
    Block uniform;
    for (std::uint64_t i = 0; i < size; ++i) uniform[i] = stream.uniform(first + i);
    for (std::uint64_t i = 0; i < size; ++i) block[i] = recipe.mean + recipe.stddev * normal_middle(uniform[i]);
    for (std::uint64_t i = 0; i < size; ++i)
      if (std::fabs(uniform[i] - 0.5) > 0.5 - kTail)
        block[i] = recipe.mean + recipe.stddev * normal_quantile(uniform[i]);
  });
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

void fill(Tensor& tensor, const InputRecipe& recipe, const RandomStream& stream) {
  const bool whole = !is_floating(tensor.dtype);
  switch (recipe.distribution) {
    case Distribution::normal:
      return fill_normal(tensor, recipe, stream);
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
