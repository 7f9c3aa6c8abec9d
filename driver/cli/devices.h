// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "values/device.h"
#include "values/error.h"

namespace kagent::cli {

// A program of kagent's own beside this one (libexec/kagent/<name>), as installed or in the build tree; empty if kagent
// was built without it.
std::filesystem::path find_own_program(const std::string& name);

// The GPUs of this machine, asked for once. An error says why there are none, and what to do.
const Result<std::vector<Device>>& devices();

// Why CUDA code for `architecture` ("sm_90a") cannot be run here, and what to do; nothing if it can.
std::optional<StageError> device_obstacle(const std::string& architecture, const Result<std::vector<Device>>& devices);

}  // namespace kagent::cli
