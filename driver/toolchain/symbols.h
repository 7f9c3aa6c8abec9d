// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kagent::toolchain {

// A symbol that an object file defines, from `nm`.
struct Symbol {
  char kind = 0;  // as nm prints it: 'T' text, 't' local text, 'W' weak, ...
  std::string mangled;
  std::string demangled;   // "softmax(float const*, float*, int)"
  bool of_device = false;  // CUDA: a kernel or a device function, which the source has for itself
  bool is_function() const { return kind == 'T' || kind == 'W' || kind == 'i'; }
  bool is_global() const { return (kind >= 'A' && kind <= 'Z' && kind != 'U') || kind == 'i' || kind == 'u'; }
  // Another object that defines it too would collide with it.
  bool is_strong() const { return kind == 'T' || kind == 'D' || kind == 'B' || kind == 'R' || kind == 'i'; }
};

// Symbols out of the outputs of `nm -p` and `nm -p -C` on the same file, which list the same symbols in the same order.
std::vector<Symbol> parse_symbols(std::string_view mangled, std::string_view demangled);

// Marks what only this source needs: kernels, which nvcc gives a launcher "__device_stub__<name>", and functions of
// these names (without namespaces).
void mark_device_symbols(std::vector<Symbol>& symbols, const std::set<std::string>& device_functions);

// The name without parameters, template arguments and namespaces: "softmax" of "void ns::softmax<float>(float*)".
std::string last_name(std::string_view demangled);

// Gives the global symbols the readable names that `known` has for them. False if one is missing there.
bool take_readable_names(std::vector<Symbol>& symbols, const std::vector<Symbol>& known);

// Why an object with these symbols cannot stand in for the baseline's object; empty if it can. It must define what the
// baseline defines for other files, and nothing that would take the place of a function of the system or the runner.
// `baseline` is empty while the baseline itself is looked at.
std::string symbol_problem(const std::vector<Symbol>& symbols, const std::vector<Symbol>& baseline);

// Why an object with these symbols cannot be one of several copies in a program: data that it writes to, of which each
// copy would have its own. Empty if there is none.
std::string state_problem(const std::vector<Symbol>& symbols);

}  // namespace kagent::toolchain
