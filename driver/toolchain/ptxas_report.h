// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "values/device.h"

namespace kagent::toolchain {

// What ptxas says of each kernel under -v, in nvcc's output or in NVRTC's log: registers, spills, stack, static shared
// memory, barriers. Only of `architecture` ("sm_90a"), unless that is empty. Names are demangled.
std::vector<DeviceUsage> parse_ptxas_report(std::string_view output, std::string_view architecture);

// The same output without the lines of information, so that what is left is warnings and errors.
std::string without_ptxas_report(std::string_view output);

// "_Z4kernIfEvPf" as "void kern<float>(float*)"; anything else as it is.
std::string demangled(const std::string& name);

}  // namespace kagent::toolchain
