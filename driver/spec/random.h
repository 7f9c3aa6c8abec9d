// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "values/kernel_spec.h"
#include "values/tensor.h"

namespace kagent::spec {

// A stream of 64-bit numbers that are addressed, not drawn: number i is a function of the key and i alone, so that
// large tensors are filled quickly and the contents of one do not depend on another.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view case_name, std::string_view name);

  // SplitMix64 (Steele, Lea and Flood, 2014): the finaliser over a Weyl sequence.
  std::uint64_t bits(std::uint64_t index) const {
    std::uint64_t z = key_ + (index + 1) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  // In the open interval (0, 1).
  double uniform(std::uint64_t index) const { return (static_cast<double>(bits(index) >> 12) + 0.5) * 0x1p-52; }
  // From 0 to count - 1; count > 0.
  std::uint64_t below(std::uint64_t index, std::uint64_t count) const { return bits(index) % count; }

 private:
  std::uint64_t key_;
};

// Fills a tensor by a recipe: rounded to the dtype, and cut to its finite range.
void fill(Tensor& tensor, const InputRecipe& recipe, const RandomStream& stream);
// One value by a recipe, rounded to the dtype.
double draw(DType dtype, const InputRecipe& recipe, const RandomStream& stream);

// What the spec says about a parameter, or the default of its dtype: normal(0, 1) for floating types, all values of
// 8-bit integers and bool, [-1000, 1000] or [0, 1000] for wider ones.
InputRecipe recipe_of(const KernelSpec& spec, const Parameter& parameter);

}  // namespace kagent::spec
