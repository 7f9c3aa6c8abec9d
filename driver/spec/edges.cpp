// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "spec/random.h"
#include "spec/spec.h"

namespace kagent::spec {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// One tensor to change, with the stream and the recipe that filled it. Rows lie along the last axis.
struct Target {
  Tensor& tensor;
  const InputRecipe& recipe;
  const RandomStream& stream;

  std::int64_t count() const { return tensor.element_count(); }
  std::int64_t columns() const { return tensor.shape.empty() ? 1 : tensor.shape.back(); }
  std::int64_t rows() const { return count() / columns(); }
  void set_all(double value) const {
    for (std::int64_t i = 0; i < count(); ++i) tensor.set(i, value);
  }
};

enum class Applies { to_floats, to_integers, to_all };

// `apply` says whether the tensor can have such contents (e4m3 has no infinity, a small tensor no tile edge).
struct Edge {
  std::string_view name;
  Applies applies;
  bool (*apply)(const Target&);
  bool one_at_a_time = false;  // several inputs at once would mean something else
};

bool holds(const Tensor& tensor, double value) {
  return !std::isinf(value) || tensor.dtype != DType::float8_e4m3;
}

bool set_first(const Target& t, double value) {
  t.tensor.set(0, value);
  return holds(t.tensor, value);
}

bool set_last(const Target& t, double value) {
  t.tensor.set(t.count() - 1, value);
  return holds(t.tensor, value);
}

// Where vector and tile loops end or begin: the columns beside multiples of the usual widths, each in a row of its own.
bool set_tile_edges(const Target& t, double value) {
  std::int64_t row = 0;
  for (const std::int64_t width : {4, 8, 16, 32, 64, 128, 256, 512, 1024})
    for (const std::int64_t column : {width - 1, width})
      if (column < t.columns() && row < t.rows()) t.tensor.set(row++ * t.columns() + column, value);
  return row > 0 && holds(t.tensor, value);
}

bool denormals(const Target& t) {
  // Below the smallest normal number there are 2^(fraction bits) - 1 steps of that size.
  double smallest_normal = 0, step = 0;
  switch (t.tensor.dtype) {
    case DType::float64:
      smallest_normal = 0x1p-1022, step = 0x1p-1074;
      break;
    case DType::float32:
      smallest_normal = 0x1p-126, step = 0x1p-149;
      break;
    case DType::float16:
      smallest_normal = 0x1p-14, step = 0x1p-24;
      break;
    case DType::bfloat16:
      smallest_normal = 0x1p-126, step = 0x1p-133;
      break;
    case DType::float8_e4m3:
      smallest_normal = 0x1p-6, step = 0x1p-9;
      break;
    default:
      smallest_normal = 0x1p-14, step = 0x1p-16;
      break;
  }
  const double steps = smallest_normal / step - 1;
  for (std::int64_t i = 0; i < t.count(); ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    const double value = step * (1 + std::floor(t.stream.uniform(index) * steps));
    t.tensor.set(i, (t.stream.bits(index) & 1) != 0 ? value : -value);
  }
  return true;
}

// On a diagonal, so that no row and no column has two of them and no sum of them is formed.
bool largest_finite_values(const Target& t) {
  const double largest = largest_finite(t.tensor.dtype);
  for (std::int64_t i = 0; i < std::min(t.rows(), t.columns()); ++i)
    t.tensor.set(i * t.columns() + i, i % 2 == 0 ? largest : -largest);
  return true;
}

bool refill(const Target& t, const InputRecipe& recipe) {
  fill(t.tensor, recipe, t.stream);
  return true;
}

bool log_uniform(const Target& t) {
  const double widest = std::exp2(std::min(30.0, std::floor(std::log2(largest_finite(t.tensor.dtype))) - 1));
  return refill(t, {.distribution = Distribution::log_uniform, .low = 1 / widest, .high = widest});
}

// A Cauchy distribution cut at 2^20 (or at what the type holds): a few values dwarf all others.
bool long_tail(const Target& t) {
  const double limit = std::min(0x1p20, largest_finite(t.tensor.dtype) / 4);
  for (std::int64_t i = 0; i < t.count(); ++i) {
    const double value = std::tan(3.141592653589793 * (t.stream.uniform(static_cast<std::uint64_t>(i)) - 0.5));
    t.tensor.set(i, std::clamp(value, -limit, limit));
  }
  return true;
}

bool identity(const Target& t) {
  if (t.tensor.shape.size() < 2) return false;
  t.set_all(0);
  for (std::int64_t row = 0; row < t.rows(); ++row) t.tensor.set(row * t.columns() + row % t.columns(), 1);
  return true;
}

bool masked_row(const Target& t) {
  const std::int64_t row = t.rows() / 2;
  for (std::int64_t column = 0; column < t.columns(); ++column) t.tensor.set(row * t.columns() + column, -kInfinity);
  return holds(t.tensor, kInfinity);
}

bool masked_tail(const Target& t) {
  if (t.columns() < 2) return false;
  for (std::int64_t row = 0; row < t.rows(); ++row)
    for (std::int64_t column = t.columns() / 2; column < t.columns(); ++column)
      t.tensor.set(row * t.columns() + column, -kInfinity);
  return holds(t.tensor, kInfinity);
}

// Neighbours cancel but for a remainder of 1/64.
bool cancelling(const Target& t) {
  for (std::int64_t i = 1; i < t.count(); i += 2) t.tensor.set(i, -t.tensor.at(i - 1) * (1 + 0x1p-6));
  return t.count() > 1;
}

bool small_integers(const Target& t) {
  return refill(t, {.distribution = Distribution::integers, .low = -4, .high = 4});
}

bool mixed_amplitude(const Target& t) {
  for (std::int64_t row = 0; row < t.rows(); ++row)
    for (std::int64_t column = 0; column < t.columns(); ++column) {
      const std::int64_t i = row * t.columns() + column;
      const double scaled = t.tensor.at(i) * (row % 2 == 0 ? 0x1p6 : 0x1p-6);
      t.tensor.set(i, std::clamp(scaled, -largest_finite(t.tensor.dtype), largest_finite(t.tensor.dtype)));
    }
  return true;
}

bool shifted_scaled(const Target& t) {
  const double mean = t.tensor.dtype == DType::float8_e4m3 || t.tensor.dtype == DType::float8_e5m2 ? 16 : 100;
  return refill(t, {.distribution = Distribution::normal, .mean = mean, .stddev = 4});
}

// Contents of an integer input stay within what its recipe declares: an index must not point outside.
bool integers_between(const Target& t, double low, double high) {
  if (t.recipe.distribution != Distribution::integers && t.recipe.distribution != Distribution::uniform &&
      t.recipe.distribution != Distribution::normal)
    return false;
  return refill(t, {.distribution = Distribution::integers, .low = low, .high = high});
}

// Lowest and highest value that an integer recipe can give. A normal one reaches all of the type.
double low_of(const Target& t) {
  return t.recipe.distribution == Distribution::normal ? -0x1p63 : std::floor(t.recipe.low);
}
double high_of(const Target& t) {
  if (t.recipe.distribution == Distribution::normal) return 0x1p64;
  return t.recipe.distribution == Distribution::uniform ? std::ceil(t.recipe.high) - 1 : t.recipe.high;
}

bool all_equal(const Target& t) {
  if (is_floating(t.tensor.dtype)) {
    t.set_all(0.75);
    return true;
  }
  const double value = t.tensor.at(0);
  t.set_all(value);
  return true;
}

constexpr Edge kEdges[] = {
    {"nan-first", Applies::to_floats, [](const Target& t) { return set_first(t, kNaN); }},
    {"nan-last", Applies::to_floats, [](const Target& t) { return set_last(t, kNaN); }},
    {"nan-tile-edge", Applies::to_floats, [](const Target& t) { return set_tile_edges(t, kNaN); }},
    {"inf-first", Applies::to_floats, [](const Target& t) { return set_first(t, kInfinity); }},
    {"inf-last", Applies::to_floats, [](const Target& t) { return set_last(t, kInfinity); }},
    {"inf-tile-edge", Applies::to_floats, [](const Target& t) { return set_tile_edges(t, kInfinity); }},
    {"negative-inf-first", Applies::to_floats, [](const Target& t) { return set_first(t, -kInfinity); }},
    {"negative-inf-last", Applies::to_floats, [](const Target& t) { return set_last(t, -kInfinity); }},
    {"denormals", Applies::to_floats, denormals},
    {"zeros", Applies::to_floats, [](const Target& t) { return t.set_all(0.0), true; }},
    {"negative-zero", Applies::to_floats, [](const Target& t) { return t.set_all(-0.0), true; }},
    {"largest-finite", Applies::to_floats, largest_finite_values, true},
    {"log-uniform", Applies::to_floats, log_uniform},
    {"long-tail", Applies::to_floats, long_tail},
    {"all-equal", Applies::to_all, all_equal},
    {"one-hot", Applies::to_floats, [](const Target& t) { return refill(t, {.distribution = Distribution::one_hot}); }},
    {"identity", Applies::to_floats, identity},
    {"masked-row", Applies::to_floats, masked_row},
    {"masked-tail", Applies::to_floats, masked_tail},
    {"cancelling", Applies::to_floats, cancelling},
    {"small-integers", Applies::to_floats, small_integers},
    {"mixed-amplitude", Applies::to_floats, mixed_amplitude},
    {"shifted-scaled", Applies::to_floats, shifted_scaled},
    {"all-min", Applies::to_integers, [](const Target& t) { return integers_between(t, low_of(t), low_of(t)); }},
    {"all-max", Applies::to_integers, [](const Target& t) { return integers_between(t, high_of(t), high_of(t)); }},
    {"small-range", Applies::to_integers,
     [](const Target& t) {
       const double middle =
           t.recipe.distribution == Distribution::normal ? 0 : std::floor((low_of(t) + high_of(t)) / 2);
       return integers_between(t, middle, std::min(middle + 1, high_of(t)));
     }},
};

bool concerns(const Edge& edge, const Tensor& tensor) {
  if (tensor.element_count() == 0) return false;
  return edge.applies == Applies::to_all || (edge.applies == Applies::to_floats) == is_floating(tensor.dtype);
}

// The plain contents with `edge` applied to the named input, or to all that it concerns; nothing if it changes none.
std::optional<CallInputs> with_edge(const KernelSpec& spec, const CallInputs& plain, const Edge& edge,
                                    const std::string* only, std::uint64_t seed) {
  CallInputs inputs = plain;
  bool changed = false;
  for (auto& [name, tensor] : inputs.tensors) {
    if ((only != nullptr && name != *only) || !concerns(edge, tensor)) continue;
    const InputRecipe recipe = recipe_of(spec, *spec.find_parameter(name));
    const RandomStream stream(seed, plain.label + "/" + std::string(edge.name), name);
    if (edge.apply({tensor, recipe, stream}))
      changed = true;
    else
      tensor = plain.tensors.at(name);
  }
  if (!changed) return std::nullopt;
  inputs.label = plain.label + "/edge:" + std::string(edge.name) + (only != nullptr ? "(" + *only + ")" : "");
  return inputs;
}

}  // namespace

std::vector<std::string> edge_names() {
  std::vector<std::string> names;
  for (const Edge& edge : kEdges) names.emplace_back(edge.name);
  return names;
}

Result<std::vector<CallInputs>> edge_inputs(const KernelSpec& spec, const Case& base, std::uint64_t seed) {
  const Result<CallInputs> plain = generate_inputs(spec, base, seed);
  if (!plain) return std::unexpected(plain.error());
  std::vector<CallInputs> result;
  const auto add = [&](const Edge& edge, const std::string* only) {
    if (auto inputs = with_edge(spec, *plain, edge, only, seed)) result.push_back(std::move(*inputs));
  };
  try {
    for (const Edge& edge : kEdges) {
      if (std::find(spec.stress_skip.begin(), spec.stress_skip.end(), edge.name) != spec.stress_skip.end()) continue;
      if (!edge.one_at_a_time)
        add(edge, nullptr);
      else
        for (const auto& [name, tensor] : plain->tensors) add(edge, &name);
    }
  } catch (const std::bad_alloc&) {
    return failure("the edge inputs of case '" + base.name + "' do not fit into memory", "add a smaller case");
  }
  return result;
}

}  // namespace kagent::spec
