// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/runner.h"

namespace kagent::runner {

inline Parameter buffer(const std::string& name, ParameterKind kind, DType dtype, const std::string& extent) {
  return {name, kind, dtype, {*Expression::parse(extent)}, 0};
}
inline Parameter value(const std::string& name, ParameterKind kind) {
  return {name, kind, DType::int32, {}, 0};
}

// x, y, n, mode: what candidates/hostile.cpp takes.
inline std::vector<Parameter> hostile_parameters() {
  return {buffer("x", ParameterKind::input, DType::float32, "n"),
          buffer("y", ParameterKind::output, DType::float32, "n"), value("n", ParameterKind::size),
          value("mode", ParameterKind::scalar)};
}

// x, y, total, scratch, n, mode: what candidates/plain.cpp takes.
inline std::vector<Parameter> plain_parameters(const std::string& scratch = "16") {
  return {buffer("x", ParameterKind::input, DType::float32, "n"),
          buffer("y", ParameterKind::output, DType::float32, "n"),
          buffer("total", ParameterKind::inout, DType::float64, "1"),
          buffer("scratch", ParameterKind::workspace, DType::uint8, scratch),
          value("n", ParameterKind::size),
          value("mode", ParameterKind::scalar)};
}

// x is 1, 2, 3, ..., total is 100.
inline CallInputs call_inputs(int n, int mode, float first = 1) {
  CallInputs inputs;
  inputs.label = "test";
  inputs.sizes = {{"n", n}};
  inputs.scalars = {{"mode", mode}};
  Tensor x = make_tensor(DType::float32, {n});
  for (int i = 0; i < n; ++i) x.set(i, first + static_cast<float>(i % 1000));
  Tensor total = make_tensor(DType::float64, {1});
  total.set(0, 100);
  inputs.tensors = {{"x", std::move(x)}, {"total", std::move(total)}};
  return inputs;
}

inline Binary candidate(const std::string& name) {
  return {std::filesystem::path(KAGENT_CANDIDATES) / ("kagent_candidate_" + name), "", ""};
}

// Null, and the test has failed, where the session cannot be started.
inline std::unique_ptr<Session> started(Runner& runner, const Binary& binary, const std::vector<Parameter>& parameters,
                                        const RunnerLimits& limits) {
  auto session = runner.start(binary, parameters, limits);
  if (session) return std::move(*session);
  ADD_FAILURE() << session.error().message << "; " << session.error().fix;
  return nullptr;
}

// Every promise holds in the sandbox and, as far as it does not need one, without.
class CandidateSession : public testing::TestWithParam<bool> {
 protected:
  static constexpr bool kSandboxed = true;

  void SetUp() override {
    if (GetParam() && !util::sandbox_state().available) GTEST_SKIP() << util::sandbox_state().description;
    limits_.allow_unsandboxed = true;
    runner_ = make_host_runner(GetParam() ? util::sandbox_state() : util::SandboxState{});
  }

  std::unique_ptr<Session> start(const Binary& binary, const std::vector<Parameter>& parameters) {
    return started(*runner_, binary, parameters, limits_);
  }

  RunnerLimits limits_;
  std::unique_ptr<Runner> runner_;
};

inline std::string isolation_name(const testing::TestParamInfo<bool>& info) {
  return info.param ? "sandboxed" : "unsandboxed";
}

// A step that must have been done: a failure of the test, with the reason, if it was not.
inline RunResult done(const Result<RunResult>& result) {
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return {Outcome::launch_failed, result.error().message, {}, {}};
  }
  return *result;
}

inline const BufferImage& image(const std::vector<BufferImage>& images, const std::string& parameter) {
  static const BufferImage none{};
  const auto found = std::ranges::find(images, parameter, &BufferImage::parameter);
  if (found != images.end()) return *found;
  ADD_FAILURE() << "no image of " << parameter;
  return none;
}

MATCHER(IsOk, "is ok") {
  *result_listener << name(arg.outcome) << ": " << arg.detail;
  return arg.outcome == Outcome::ok;
}
MATCHER_P2(EndsWith, outcome, detail, std::string(name(outcome)) + " with \"" + detail + "\"") {
  *result_listener << name(arg.outcome) << ": " << arg.detail;
  return arg.outcome == outcome && arg.detail.find(detail) != std::string::npos;
}

}  // namespace kagent::runner
