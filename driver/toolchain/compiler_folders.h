// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "toolchain/compile_command.h"

namespace kagent::toolchain {

// Where the compiler of `command` looks for headers of itself, wherever it is installed: the language's and the
// system's headers, its own, and nvcc's toolkit. Folders that the options add are not among them; options that move
// the compiler's own (--sysroot, -B, -ccbin, ...) count. The compiler is asked; empty where it does not answer.
std::vector<std::filesystem::path> own_header_folders(const CompileCommand& command);

// The compiler that the program of `command` hands over to, where that is a wrapper elsewhere; it is asked as well.
// Empty where it does not say.
std::filesystem::path wrapped_compiler(const CompileCommand& command);

}  // namespace kagent::toolchain
