// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "toolchain/compile_command.h"
#include "values/error.h"

namespace kagent::toolchain {

// The words of a compiler's command line, taken apart: launchers dropped, response files expanded, input, output and
// dependency options left out. `source` is the input as compile_commands.json names it.
Result<CompileCommand> parse_command_line(const std::filesystem::path& directory, std::vector<std::string> words,
                                          const std::filesystem::path& source);

}  // namespace kagent::toolchain
