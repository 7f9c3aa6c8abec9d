// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "values/error.h"
#include "values/kernel_request.h"

namespace kagent::build_step {

// Reads a request.json as cmake/KAgent.cmake writes it. Strict: it is kagent's own format.
Result<KernelRequest> load_request(const std::filesystem::path& file);

// Every request below a build tree, of all kernels if `kernel` is empty, of all targets if `target` is empty; sorted by
// kernel, then target. An error if there is none, with the names that there are.
Result<std::vector<KernelRequest>> find_requests(const std::filesystem::path& build_folder, const std::string& kernel,
                                                 const std::string& target);

}  // namespace kagent::build_step
