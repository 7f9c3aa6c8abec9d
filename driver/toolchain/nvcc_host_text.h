// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace kagent::toolchain {

// Facts from the C++ that nvcc gives to the host compiler (<name>.cudafe1.cpp): preprocessed, without comments.

// The type that a function returns ("void", "cudaError_t"), by its last declaration; empty if none can be told.
// `function` may be qualified; only its last name is looked for.
std::string result_type(std::string_view text, std::string_view function);

// Names of the functions that exist on the device alone, without namespaces: their host bodies only end the process.
std::set<std::string> device_functions(std::string_view text);

}  // namespace kagent::toolchain
