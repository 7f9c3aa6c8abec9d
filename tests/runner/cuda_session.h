// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/candidate_session.h"
#include "runner/cuda/modes.h"
#include "runner/cuda_runner.h"

namespace kagent::runner {

// x, y, total, n: what cuda/kernel.cu takes; and mode and the stream: cuda/launcher.cu.
inline std::vector<Parameter> kernel_parameters() {
  return {buffer("x", ParameterKind::input, DType::float32, "n"),
          buffer("y", ParameterKind::output, DType::float32, "n"),
          buffer("total", ParameterKind::inout, DType::float64, "1"), value("n", ParameterKind::size)};
}
inline std::vector<Parameter> launcher_parameters() {
  std::vector<Parameter> parameters = kernel_parameters();
  parameters.push_back(value("mode", ParameterKind::scalar));
  parameters.push_back(value("stream", ParameterKind::stream));
  return parameters;
}

inline Launch launch(const std::string& grid, const std::string& block, const std::string& shared = "0") {
  const auto one = *Expression::parse("1");
  return {
      {*Expression::parse(grid), one, one}, {*Expression::parse(block), one, one}, {}, *Expression::parse(shared), {}};
}

// A program of style kernel.
inline Binary device_binary(const std::filesystem::path& code, const std::string& symbol, const Launch& how) {
  Binary binary{.executable = {}, .object_hash = {}, .symbol = symbol};
  binary.cubin = code;
  binary.launch = how;
  return binary;
}

// kagent-cuda-runner of this build; see cuda_session.cpp.
std::filesystem::path kernel_runner();

// That y is 2 x, total is `calls` times n more than 100, and everything else is as it was.
inline void expect_scaled(Session& session, int slot, int n, int calls = 1, float factor = 2) {
  const auto images = session.read(slot);
  ASSERT_TRUE(images) << images.error().message;
  if (images->empty()) {
    const RunResult why = done(session.call(slot));
    FAIL() << "nothing was read: " << name(why.outcome) << ": " << why.detail;
  }
  const Tensor& y = image(*images, "y").contents;
  ASSERT_EQ(y.element_count(), n);
  for (int i = 0; i < n; ++i) ASSERT_EQ(y.at(i), factor * (1 + static_cast<float>(i % 1000))) << "y[" << i << "]";
  EXPECT_EQ(image(*images, "total").contents.at(0), 100 + static_cast<double>(calls) * n);
  EXPECT_EQ(image(*images, "x").contents.bytes, call_inputs(n, 0).tensors["x"].bytes);
  for (const BufferImage& one : *images) EXPECT_TRUE(one.guards_intact) << one.parameter << " at " << one.first_damage;
}

}  // namespace kagent::runner
