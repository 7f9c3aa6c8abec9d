// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "runner/cuda_runner.h"
#include "runner/cuda_session.h"

namespace kagent::runner {

// A test, of whatever kind `Base` is, that needs this machine's first GPU; where there is none it says so and is
// skipped. A fixture's own SetUp() calls this one's, and does no more where IsSkipped().
template <class Base = testing::Test>
class OnGpu : public Base {
 protected:
  void SetUp() override {
    const auto devices = probe_devices(kernel_runner());
    if (!devices) GTEST_SKIP() << devices.error().message << "; " << devices.error().fix;
    device_ = devices->front();
    limits_.allow_unsandboxed = true;
  }

  std::unique_ptr<Session> start(const Binary& binary, const std::vector<Parameter>& parameters) {
    return started(*runner_, binary, parameters, limits_);
  }

  Device device_;
  RunnerLimits limits_;
  std::unique_ptr<Runner> runner_;  // the fixture's own
};

}  // namespace kagent::runner
