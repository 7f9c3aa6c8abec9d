// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "util/sandbox.h"
#include "util/subprocess.h"

namespace kagent::runner {

// The folder that holds `library` ("libcuda.so.1") here: of LD_LIBRARY_PATH, the loader's cache, or where drivers are
// put in containers. Empty if there is none. What the name leads to lies there too.
std::filesystem::path folder_of_library(const std::string& library);

// The complete environment of a program that uses the GPU of this UUID; of any GPU that this process's own
// CUDA_VISIBLE_DEVICES shows if it is empty.
std::vector<std::string> device_environment(const std::string& uuid);

// Nodes of GPUs in /dev.
std::vector<std::filesystem::path> device_nodes();

// The command in the sandbox, with the program's file (argv[0]), the driver's libraries, /sys and the GPUs in view.
util::Command sandboxed_with_device(const util::Command& command, const util::SandboxState& sandbox,
                                    const std::vector<std::filesystem::path>& also = {});

}  // namespace kagent::runner
