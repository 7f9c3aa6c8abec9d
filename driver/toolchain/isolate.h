// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "values/error.h"

namespace kagent::toolchain {

// Merges `objects` into the relocatable object `output` that shares nothing inline with the rest of a program: its
// inline functions, template instances and their static variables are its own. `symbol` is renamed to `new_name`, the
// only name that it shows; with an empty `symbol` it shows none. What the objects need from elsewhere stays as it is.
//
// Code of a higher instruction set needs this: otherwise the linker may give its copy of an inline function to code
// that runs on every machine. Compile the objects with -fno-gnu-unique and -fno-lto.
Result<void> isolate_symbols(std::span<const std::filesystem::path> objects, const std::string& symbol,
                             const std::string& new_name, const std::filesystem::path& output);

// The mangled name of the one function that `object` defines as `function` ("ops::softmax_launch"), whatever its
// parameters.
Result<std::string> symbol_of(const std::filesystem::path& object, const std::string& function);

}  // namespace kagent::toolchain
