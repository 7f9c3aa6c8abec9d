// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "values/device.h"

namespace kagent::loop {

// How the GPU was doing while samples were taken, as far as its management library (NVML) says. Numbers of samples.
struct DeviceConditions {
  int looks = 0;      // whose state is known
  int throttled = 0;  // of these, with clocks held down by heat or power
  int shared = 0;     // of these, with a context of another program on the device

  void add(const DeviceState& state);
  void add(const DeviceConditions& more);
  // "the GPU was throttled in 30 of 96 samples": what holds for a quarter of them and more, since a program that ends
  // is listed a little longer; else empty.
  std::string text() const;
};

}  // namespace kagent::loop
