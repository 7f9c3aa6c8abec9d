// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kagent::toolchain {

// What compiler output is distilled with.
struct DiagnosticsContext {
  std::string_view source_text;  // of the compiled file, from the line that messages call line 1
  std::string source_path;       // as the compiler was given it
  std::string source_name;       // as it is shown
};

// The part of a text whose lines messages count as those of the file `name`: it lies behind the last line that says so.
// A rendered candidate has its tunables and its geometry on top, a generated launcher has more in front and behind.
std::string_view counted_text(std::string_view text, std::string_view name);

// Compiler output as a person or a model needs it: errors first, then warnings, each as "file:line:column: class: text"
// with three lines of code around it; no repetitions, no more than a few kilobytes; valid UTF-8 without escapes. Output
// without a recognised message is given back cleaned and cut.
std::string distil(std::string_view output, const DiagnosticsContext& context);

// Names that the linker could not find, in order, without repetitions.
std::vector<std::string> undefined_references(std::string_view output);

// Whether the linker refuses position-dependent code in a position-independent executable.
bool wants_no_pie(std::string_view output);

}  // namespace kagent::toolchain
