// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../examples/softmax_app/ops/softmax.h"
#include "../../kernels/histogram.h"
#include "../../kernels/matmul.h"
#include "../../kernels/softmax.h"
#include "spec/spec.h"
#include "verifier/verifier.h"

namespace kagent {
namespace {

// The arguments of one call, buffers in the order of the parameters and sizes by name.
struct Arguments {
  std::vector<void*> buffers;
  const Sizes& sizes;
  template <class T>
  T* buffer(std::size_t index) const {
    return static_cast<T*>(buffers.at(index));
  }
  int size(const std::string& name) const { return static_cast<int>(sizes.at(name)); }
};

struct Shipped {
  std::string name;
  std::filesystem::path source, golden;
  std::function<void(const Arguments&)> call;
};

const std::filesystem::path kRoot = KAGENT_SOURCE_DIR;

std::vector<Shipped> all_shipped() {
  return {
      {"softmax", kRoot / "kernels/softmax.cpp", kRoot / "golden/softmax",
       [](const Arguments& with) {
         kernels::softmax_forward(with.buffer<const float>(0), with.buffer<float>(1), with.size("rows"),
                                  with.size("cols"));
       }},
      {"matmul", kRoot / "kernels/matmul.cpp", kRoot / "golden/matmul",
       [](const Arguments& with) {
         kernels::matmul(with.buffer<const float>(0), with.buffer<const float>(1), with.buffer<float>(2),
                         with.size("m"), with.size("n"), with.size("k"));
       }},
      {"histogram", kRoot / "kernels/histogram.cpp", kRoot / "golden/histogram",
       [](const Arguments& with) {
         kernels::byte_histogram(with.buffer<const std::uint8_t>(0), with.buffer<std::uint32_t>(1), with.size("count"));
       }},
      {"example_softmax", kRoot / "examples/softmax_app/ops/softmax.cpp", kRoot / "examples/softmax_app/golden/softmax",
       [](const Arguments& with) {
         ::softmax_forward(with.buffer<const float>(0), with.buffer<float>(1), with.size("rows"), with.size("cols"));
       }}};
}

std::vector<BufferImage> run(const Shipped& kernel, const KernelSpec& spec, const CallInputs& inputs) {
  std::vector<BufferImage> images;
  for (const Parameter& parameter : spec.parameters) {
    if (!parameter.is_buffer()) continue;
    Tensor tensor = parameter.is_read() ? inputs.tensors.at(parameter.name)
                                        : make_tensor(parameter.dtype, *spec::extents(parameter, inputs.sizes));
    if (!parameter.is_read()) std::memset(tensor.bytes.data(), 0xA5, tensor.bytes.size());
    images.push_back({parameter.name, std::move(tensor), true, 0});
  }
  Arguments arguments{{}, inputs.sizes};
  for (BufferImage& image : images) arguments.buffers.push_back(image.contents.bytes.data());
  kernel.call(arguments);
  return images;
}

class ShippedKernel : public testing::TestWithParam<Shipped> {};

TEST_P(ShippedKernel, HasASpecThatLoads) {
  const auto spec = spec::load(GetParam().golden);
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_TRUE(spec->reference);
}

TEST_P(ShippedKernel, ComputesWhatIsRecorded) {
  const KernelSpec spec = spec::load(GetParam().golden).value();
  int recorded_cases = 0;
  for (const Case& one : spec.cases) {
    const auto expected = spec::recorded_expected(spec, one);
    ASSERT_TRUE(expected) << expected.error().message;
    if (!*expected) continue;
    ++recorded_cases;
    const CallInputs inputs = spec::generate_inputs(spec, one, 1).value();
    KernelSpec elementwise = spec;
    // The bound with S is the reference's business, which is not at hand here.
    for (auto& [name, tolerance] : elementwise.tolerance) tolerance.contraction = false;
    const Verdict verdict = verifier::compare(elementwise, inputs, **expected, run(GetParam(), spec, inputs));
    EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.reason;
  }
  EXPECT_GE(recorded_cases, 1);
}

TEST_P(ShippedKernel, DefinesEachTunableWithAValueOfTheSpec) {
  const KernelSpec spec = spec::load(GetParam().golden).value();
  std::ifstream file(GetParam().source);
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  for (const Tunable& tunable : spec.tunables) {
    const std::string guard = "#ifndef " + tunable.name + "\n#define " + tunable.name + " ";
    const auto at = source.find(guard);
    ASSERT_NE(at, source.npos) << tunable.name;
    const std::int64_t value = std::stoll(source.substr(at + guard.size()));
    EXPECT_THAT(tunable.values, testing::Contains(value)) << tunable.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedKernel, testing::ValuesIn(all_shipped()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace kagent
