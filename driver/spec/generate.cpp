// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <new>
#include <stdexcept>

#include <unistd.h>

#include "spec/npy.h"
#include "spec/random.h"
#include "spec/spec.h"

namespace kagent::spec {
namespace {

Result<Tensor> read_recorded(const std::filesystem::path& file, const Parameter& parameter,
                             const std::vector<std::int64_t>& shape) {
  Result<Tensor> tensor = read_npy(file, parameter.dtype);
  if (tensor && tensor->shape != shape)
    return failure("'" + file.string() + "' has the shape " + shape_text(tensor->shape) + " and '" + parameter.name +
                       "' has " + shape_text(shape),
                   "correct the case's sizes or the file");
  return tensor;
}

Tensor as_float64(const Tensor& tensor) {
  Tensor wide = make_tensor(DType::float64, tensor.shape);
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) wide.set(i, tensor.at(i));
  return wide;
}

std::unexpected<StageError> out_of_memory(const Case& base) {
  return failure("the buffers of case '" + base.name + "' do not fit into this machine's memory", "use smaller sizes");
}

// Asked before anything is allocated: the system grants more memory than there is, and kills whoever uses it.
Result<void> check_memory(const KernelSpec& spec, const Case& base) {
  const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  double total = 0;
  for (const Parameter& parameter : spec.parameters) {
    if (!parameter.is_buffer()) continue;
    const auto shape = extents(parameter, base.sizes);
    if (!shape) return std::unexpected(shape.error());
    double bytes = static_cast<double>(size_bytes(parameter.dtype));
    for (const std::int64_t extent : *shape) bytes *= static_cast<double>(extent);
    total += bytes;
  }
  if (total > memory) return out_of_memory(base);
  return {};
}

Result<CallInputs> generate(const KernelSpec& spec, const Case& base, std::uint64_t seed) {
  CallInputs inputs{base.name, base.sizes, {}, {}};
  for (const Parameter& parameter : spec.parameters) {
    const RandomStream stream(seed, base.name, parameter.name);
    if (parameter.kind == ParameterKind::scalar) {
      const auto fixed = base.scalars.find(parameter.name);
      const InputRecipe constant{.distribution = Distribution::constant,
                                 .value = fixed != base.scalars.end() ? fixed->second : 0};
      inputs.scalars[parameter.name] =
          draw(parameter.dtype, fixed != base.scalars.end() ? constant : recipe_of(spec, parameter), stream);
    }
    if (!parameter.is_read()) continue;
    const auto shape = extents(parameter, base.sizes);
    if (!shape) return std::unexpected(shape.error());
    if (const auto recorded = base.inputs.find(parameter.name); recorded != base.inputs.end()) {
      Result<Tensor> tensor = read_recorded(recorded->second, parameter, *shape);
      if (!tensor) return std::unexpected(tensor.error());
      inputs.tensors.emplace(parameter.name, std::move(*tensor));
      continue;
    }
    Tensor tensor = make_tensor(parameter.dtype, *shape);
    fill(tensor, recipe_of(spec, parameter), stream);
    inputs.tensors.emplace(parameter.name, std::move(tensor));
  }
  return inputs;
}

}  // namespace

Result<CallInputs> generate_inputs(const KernelSpec& spec, const Case& base, std::uint64_t seed) {
  if (auto fits = check_memory(spec, base); !fits) return std::unexpected(fits.error());
  try {
    return generate(spec, base, seed);
  } catch (const std::bad_alloc&) {
    return out_of_memory(base);
  } catch (const std::length_error&) {
    return out_of_memory(base);
  }
}

Result<std::optional<Expected>> recorded_expected(const KernelSpec& spec, const Case& base) {
  if (base.expected.empty()) return std::nullopt;
  Expected expected{ExpectedFrom::recorded, {}, {}};
  for (const auto& [name, file] : base.expected) {
    const Parameter* parameter = spec.find_parameter(name);
    if (parameter == nullptr) return failure("case '" + base.name + "' records '" + name + "', which is no parameter");
    const auto shape = extents(*parameter, base.sizes);
    if (!shape) return std::unexpected(shape.error());
    Result<Tensor> tensor = read_recorded(file, *parameter, *shape);
    if (!tensor) return std::unexpected(tensor.error());
    expected.tensors.emplace(name, is_floating(parameter->dtype) ? as_float64(*tensor) : std::move(*tensor));
  }
  return expected;
}

}  // namespace kagent::spec
