// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "toolchain/symbols.h"
#include "values/error.h"
#include "values/kernel_spec.h"

namespace kagent::toolchain {

// Either the entry's symbol or why there is none, in words for whoever wrote the source.
struct EntryLookup {
  std::optional<Symbol> symbol;
  std::string problem;
};

// The function `entry` ("ns::softmax") that fits the parameters of the spec. Types of an extern "C" function are not in
// its name, so they are not compared.
EntryLookup find_entry(const std::vector<Symbol>& symbols, const std::string& entry,
                       const std::vector<Parameter>& parameters);

// Why the function with these demangled parameter types ("float const*") cannot be called with these parameters; empty
// if it can.
std::string signature_mismatch(const std::vector<std::string>& types, const std::vector<Parameter>& parameters);

// The declaration that the spec describes: "softmax(const float* x, float* y, int n)".
std::string expected_signature(const std::string& entry, const std::vector<Parameter>& parameters);

// Source of the object that the runner's runtime calls, `void kagent_call(void* const* arguments)`: buffers are passed
// as they are, sizes and scalars are read from where the argument points to. An error names a parameter that cannot be
// passed by value.
Result<std::string> call_shim(const std::string& mangled, const std::vector<Parameter>& parameters);

}  // namespace kagent::toolchain
