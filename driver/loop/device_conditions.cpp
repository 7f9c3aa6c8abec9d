// SPDX-License-Identifier: Apache-2.0
#include "loop/device_conditions.h"

#include <fmt/core.h>

namespace kagent::loop {
namespace {

constexpr int kQuarter = 4;

}  // namespace

void DeviceConditions::add(const DeviceState& state) {
  ++looks;
  if (state.is_throttled()) ++throttled;
  if (state.other_processes > 0) ++shared;
}

void DeviceConditions::add(const DeviceConditions& more) {
  looks += more.looks;
  throttled += more.throttled;
  shared += more.shared;
}

std::string DeviceConditions::text() const {
  std::string text;
  const auto say = [&](int samples, const char* what) {
    if (samples == 0 || samples * kQuarter < looks) return;
    text += fmt::format("{}{} in {} of {} samples", text.empty() ? "" : ", ", what, samples, looks);
  };
  say(shared, "other programs had the GPU open");
  say(throttled, "heat or power held its clocks down");
  return text;
}

}  // namespace kagent::loop
