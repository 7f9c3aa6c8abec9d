// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kagent::toolchain {

// A static library with the one object that `source` compiles to, made once for each text and set of options.
const std::filesystem::path& make_archive(const std::string& source, const std::vector<std::string>& options = {});

}  // namespace kagent::toolchain
