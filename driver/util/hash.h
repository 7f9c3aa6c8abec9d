// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "values/error.h"

namespace kagent::util {

// SHA-256 as 64 lower-case hex digits.
std::string sha256(std::string_view bytes);
Result<std::string> sha256_file(const std::filesystem::path& path);

}  // namespace kagent::util
