// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "values/binary.h"
#include "values/launch.h"

namespace kagent::toolchain {

// Headers of the toolkit that a source includes before it defines anything but tunables, so that they mean the same
// when they come first: what is worth precompiling. Without brackets: "cub/cub.cuh".
std::vector<std::string> leading_headers(std::string_view source, const std::set<std::string>& tunables);

// The geometry with the tunables' values put in, one line each: equal for geometries that are equal for every size.
std::string geometry_text(const Launch& launch, const std::map<std::string, std::int64_t>& tunables);

// A kernel without code whose instance's name tells the values of macros: the text to append, the name expression, and
// what the mangled name says.
std::string values_probe(std::string_view source);
std::string values_instance(const std::vector<std::string>& macros);
std::optional<std::vector<std::int64_t>> read_values(std::string_view lowered_name, std::size_t count);

// "softmax_rows<float, 128>(float const*, float*)" of "void ops::softmax_rows<float, 128>(...)": the parameter types,
// or nothing if the name has no list (extern "C").
std::optional<std::vector<std::string>> kernel_parameter_types(std::string_view demangled);

}  // namespace kagent::toolchain
