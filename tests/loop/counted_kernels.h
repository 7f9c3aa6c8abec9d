// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/on_gpu.h"

namespace kagent::loop {

// A test of the kernels of planted/counted.cu, which may look at their counters and traces.
template <class Base = testing::Test>
class CountedKernels : public runner::OnGpu<Base> {
 protected:
  void SetUp() override {
    runner::OnGpu<Base>::SetUp();
    if (this->IsSkipped()) return;
    this->limits_.reads_counters = true;
    this->runner_ =
        runner::make_cuda_runner({.device = this->device_, .kernel_runner = runner::kernel_runner(), .warm = 0});
  }

  // `code`: planted/counted.cu, compiled.
  static Binary counted(const std::filesystem::path& code, const std::string& symbol, const std::string& grid,
                        const std::string& block) {
    return runner::device_binary(code, symbol, runner::launch(grid, block));
  }
  // x, y and n: what each of them takes.
  static std::vector<Parameter> counted_parameters() {
    return {runner::buffer("x", ParameterKind::input, DType::float32, "n"),
            runner::buffer("y", ParameterKind::output, DType::float32, "n"), runner::value("n", ParameterKind::size)};
  }
  static CallInputs counted_inputs(int n) {
    CallInputs inputs = runner::call_inputs(n, 0);
    inputs.scalars.clear();
    inputs.tensors.erase("total");
    return inputs;
  }
};

}  // namespace kagent::loop
