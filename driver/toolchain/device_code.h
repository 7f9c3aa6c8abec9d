// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "values/error.h"

namespace kagent::toolchain {

// One image of device code in an object file or a program.
struct DeviceCode {
  std::string architecture;  // "sm_90", "sm_90a"
  bool ptx = false;          // something that is compiled later, and not machine code
};

// The device code that nvcc put into an ELF file, whole-program and relocatable, in the order of the file. Empty if it
// holds none. An error if it is no such file or its device code is damaged.
Result<std::vector<DeviceCode>> device_code(const std::filesystem::path& file);

// In words, if the file holds anything but machine code for `architecture`; empty if it does not.
std::string foreign_device_code(const std::vector<DeviceCode>& images, const std::string& architecture);

}  // namespace kagent::toolchain
