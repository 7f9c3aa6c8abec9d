// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toolchain/symbols.h"
#include "values/error.h"
#include "values/kernel_request.h"
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
                       const std::vector<Parameter>& parameters, Language language = Language::cxx);

// The types of a demangled parameter list: "float const*" and "std::pair<int, int>" of "float const*, std::pair<int,
// int>".
std::vector<std::string> split_types(std::string_view list);

// Why the function with these demangled parameter types ("float const*") cannot be called with these parameters; empty
// if it can.
std::string signature_mismatch(const std::vector<std::string>& types, const std::vector<Parameter>& parameters,
                               Language language = Language::cxx);

// The declaration that the spec describes: "softmax(const float* x, float* y, int n)".
std::string expected_signature(const std::string& entry, const std::vector<Parameter>& parameters,
                               Language language = Language::cxx);

// What messages call a parameter: "an input of float32", "a stream".
std::string described(const Parameter& parameter);

// What C++ calls a dtype, as it is written in a declaration.
std::string_view type_name(DType dtype, Language language);

}  // namespace kagent::toolchain
