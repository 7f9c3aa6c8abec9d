// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels that come with kagent, on a fake device: recorded, hidden and edge inputs against their references,
// as `kagent verify` does on a real one.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fenced_buffer.h"
#include "shipped_cuda_kernels.h"
#include "spec/spec.h"
#include "verifier/verifier.h"

namespace kagent {
namespace {

// A fresh seed shows other values: KAGENT_TEST_SEED=7 ctest -R cuda_kernels
std::uint64_t seed() {
  const char* text = std::getenv("KAGENT_TEST_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

std::filesystem::path source_of(const KernelSpec& spec) {
  return std::filesystem::path(KAGENT_SOURCE_DIR) / "kernels" / (spec.kernel + ".cu");
}

// The values of the tunables that the source has by itself; none where it does not define one as a variant expects.
std::map<std::string, std::int64_t> defaults_of(const KernelSpec& spec) {
  std::ifstream file(source_of(spec));
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  std::map<std::string, std::int64_t> defaults;
  for (const Tunable& tunable : spec.tunables) {
    const std::string guard = "#ifndef " + tunable.name + "\n#define " + tunable.name + " ";
    if (const auto at = source.find(guard); at != source.npos)
      defaults[tunable.name] = std::stoll(source.substr(at + guard.size()));
  }
  return defaults;
}

ShippedGeometry geometry(const KernelSpec& spec, const Sizes& sizes) {
  std::map<std::string, std::int64_t> names = defaults_of(spec);
  names.insert(sizes.begin(), sizes.end());
  const auto value = [&](const Expression& expression) {
    return static_cast<unsigned>(
        expression.evaluate([&](std::string_view name) { return &names.at(std::string(name)); }).value());
  };
  ShippedGeometry result;
  for (std::size_t i = 0; i < 3; ++i) {
    result.grid[i] = value(spec.launch->grid[i]);
    result.block[i] = value(spec.launch->block[i]);
  }
  if (spec.launch->shared_memory) result.shared_bytes = value(*spec.launch->shared_memory);
  return result;
}

// Buffers of one call, in the order of the parameters. Each ends where the process may not read or write.
class Call {
 public:
  Call(const KernelSpec& spec, const CallInputs& inputs, bool wide, bool absolute, unsigned char poison) {
    if (spec.launch) arguments_.geometry = geometry(spec, inputs.sizes);
    for (const Parameter& parameter : spec.parameters) {
      if (parameter.kind == ParameterKind::stream) continue;
      ShippedArgument argument;
      if (parameter.kind == ParameterKind::size)
        argument.number = static_cast<double>(inputs.sizes.at(parameter.name));
      else if (parameter.kind == ParameterKind::scalar)
        argument.number = inputs.scalars.at(parameter.name);
      else
        argument.buffer = add_buffer(parameter, inputs, wide && is_floating(parameter.dtype), absolute, poison);
      arguments_.values.push_back(argument);
    }
  }

  const ShippedArguments& arguments() const { return arguments_; }

  std::vector<BufferImage> images() const {
    std::vector<BufferImage> images;
    for (const Buffer& buffer : buffers_) {
      BufferImage image{buffer.name, buffer.shape_of, buffer.memory.front_is_intact(), 0};
      std::memcpy(image.contents.bytes.data(), buffer.memory.bytes(), image.contents.bytes.size());
      images.push_back(std::move(image));
    }
    return images;
  }

 private:
  struct Buffer {
    std::string name;
    Tensor shape_of;
    FencedBuffer memory;
  };

  void* add_buffer(const Parameter& parameter, const CallInputs& inputs, bool wide, bool absolute,
                   unsigned char poison) {
    const DType dtype = wide ? DType::float64 : parameter.dtype;
    Tensor tensor = make_tensor(dtype, *spec::extents(parameter, inputs.sizes));
    if (parameter.is_read()) {
      const Tensor& given = inputs.tensors.at(parameter.name);
      for (std::int64_t i = 0; wide && i < given.element_count(); ++i)
        tensor.set(i, absolute ? std::abs(given.at(i)) : given.at(i));
      if (!wide) tensor = given;
    } else {
      std::memset(tensor.bytes.data(), poison, tensor.bytes.size());
    }
    const auto item = static_cast<std::int64_t>(size_bytes(dtype));
    FencedBuffer memory(tensor.bytes, static_cast<std::size_t>(std::max(item, parameter.alignment_bytes)));
    buffers_.push_back({parameter.name, std::move(tensor), std::move(memory)});
    return buffers_.back().memory.bytes();
  }

  std::vector<Buffer> buffers_;
  ShippedArguments arguments_;
};

std::map<std::string, Tensor> written(const KernelSpec& spec, std::vector<BufferImage> images) {
  std::map<std::string, Tensor> tensors;
  for (BufferImage& image : images)
    if (spec.find_parameter(image.parameter)->is_written()) tensors[image.parameter] = std::move(image.contents);
  return tensors;
}

Expected ask_reference(const ShippedCudaKernel& kernel, const KernelSpec& spec, const CallInputs& inputs) {
  const auto ask = [&](bool absolute) {
    const Call call(spec, inputs, true, absolute, 0);
    kernel.reference(call.arguments());
    return written(spec, call.images());
  };
  Expected expected{ExpectedFrom::reference, ask(false), {}};
  const bool contraction = std::any_of(spec.tolerance.begin(), spec.tolerance.end(),
                                       [](const auto& entry) { return entry.second.contraction; });
  if (contraction) expected.magnitude = ask(true);
  return expected;
}

// The kernel's buffers after a call, where every output element was written whatever was there before.
std::vector<BufferImage> run(const ShippedCudaKernel& kernel, const KernelSpec& spec, const CallInputs& inputs) {
  const Call first(spec, inputs, false, false, 0xA5), second(spec, inputs, false, false, 0x5A);
  kernel.call(first.arguments());
  kernel.call(second.arguments());
  const Verdict verdict = verifier::check_written(spec, inputs, first.images(), 0xA5, second.images(), 0x5A);
  EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.reason;
  const Verdict repeated = verifier::check_repeat(spec, inputs, first.images(), second.images());
  EXPECT_EQ(repeated.outcome, Outcome::ok) << repeated.reason;
  return first.images();
}

void expect_right(const ShippedCudaKernel& kernel, const KernelSpec& spec, const CallInputs& inputs) {
  const Expected expected = ask_reference(kernel, spec, inputs);
  const Verdict verdict = verifier::compare(spec, inputs, expected, run(kernel, spec, inputs));
  EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.reason;
}

class ShippedCuda : public testing::TestWithParam<ShippedCudaKernel> {
 protected:
  KernelSpec spec_ = spec::load(golden()).value();

  static std::filesystem::path golden() {
    return std::filesystem::path(KAGENT_SOURCE_DIR) / "golden" / GetParam().name;
  }
};

TEST_P(ShippedCuda, HasAReferenceThatAgreesWithWhatIsRecorded) {
  ASSERT_TRUE(spec_.reference);
  int recorded_cases = 0;
  for (const Case& one : spec_.cases) {
    const auto recorded = spec::recorded_expected(spec_, one);
    ASSERT_TRUE(recorded) << recorded.error().message;
    if (!*recorded) continue;
    ++recorded_cases;
    const CallInputs inputs = spec::generate_inputs(spec_, one, 1).value();
    const Expected computed = ask_reference(GetParam(), spec_, inputs);
    for (const auto& [name, tensor] : (*recorded)->tensors) {
      const DType dtype = spec_.find_parameter(name)->dtype;
      for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
        // Recorded values were rounded once: half a unit in the last place, and what the reference errs by itself.
        const double value = computed.tensors.at(name).at(i);
        if (is_floating(dtype))
          ASSERT_NEAR(tensor.at(i), value,
                      1.01 * unit_roundoff(dtype) * std::abs(value) + 1e-7 * (dtype == DType::float16))
              << name << " " << i << " of case " << one.name;
        else
          ASSERT_EQ(tensor.at(i), value) << name << " " << i << " of case " << one.name;
      }
    }
  }
  EXPECT_GE(recorded_cases, 1);
}

TEST_P(ShippedCuda, ComputesWhatIsRecordedOnAFakeDevice) {
  for (const Case& one : spec_.cases) {
    const auto recorded = spec::recorded_expected(spec_, one).value();
    if (!recorded) continue;
    const CallInputs inputs = spec::generate_inputs(spec_, one, 1).value();
    expect_right(GetParam(), spec_, inputs);
    Expected expected = *recorded;
    expected.magnitude = ask_reference(GetParam(), spec_, inputs).magnitude;
    const Verdict verdict = verifier::compare(spec_, inputs, expected, run(GetParam(), spec_, inputs));
    EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.reason;
  }
}

TEST_P(ShippedCuda, ComputesHiddenSizesOnAFakeDevice) {
  for (const Case& one : spec::hidden_cases(spec_, seed()))
    expect_right(GetParam(), spec_, spec::generate_inputs(spec_, one, seed()).value());
}

TEST_P(ShippedCuda, ComputesEdgeInputsOnAFakeDevice) {
  const auto base = spec::edge_case(spec_);
  ASSERT_TRUE(base);
  const auto edges = spec::edge_inputs(spec_, *base, seed()).value();
  for (const CallInputs& inputs : edges) expect_right(GetParam(), spec_, inputs);
}

TEST_P(ShippedCuda, HasAToleranceThatNoTrivialOutputPasses) {
  const auto base = spec::edge_case(spec_);
  ASSERT_TRUE(base);
  const CallInputs inputs = spec::generate_inputs(spec_, *base, seed()).value();
  EXPECT_THAT(verifier::trivial_passes(spec_, inputs, ask_reference(GetParam(), spec_, inputs)), testing::IsEmpty());
}

TEST_P(ShippedCuda, DefinesEachTunableWithAValueOfTheSpec) {
  const auto defaults = defaults_of(spec_);
  for (const Tunable& tunable : spec_.tunables) {
    ASSERT_TRUE(defaults.contains(tunable.name)) << tunable.name;
    EXPECT_THAT(tunable.values, testing::Contains(defaults.at(tunable.name))) << tunable.name;
  }
  const auto value = [&](std::string_view name) { return &defaults.at(std::string(name)); };
  for (const Expression& constraint : spec_.constraints) EXPECT_NE(constraint.evaluate(value).value(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, ShippedCuda, testing::ValuesIn(shipped_cuda_kernels()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace kagent
