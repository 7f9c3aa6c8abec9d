// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "toolchain/diagnostics.h"

namespace kagent::toolchain {

enum class Severity { error, warning, note };

// One message of a compiler, an assembler or a linker.
struct Message {
  Severity severity = Severity::error;
  std::string file;  // empty: of the tool itself
  long line = 0;
  std::string text;               // without place and class
  std::string shown;              // "file:line:column: error: text"
  std::vector<std::string> code;  // the compiler's own excerpt
};

// How much of raw output is looked at. Template errors reach megabytes; their first errors are in front.
inline constexpr std::size_t kMostRawBytes = 512 * 1024;

// The messages in the output of g++, clang, nvcc ("file(12): error: ..."), ptxas and nvlink, in order. `output` is
// clean.
std::vector<Message> parse_messages(std::string_view output, const DiagnosticsContext& context);

// Whether the message is about the compiled source itself.
bool is_of_source(const Message& message, const DiagnosticsContext& context);

// Three lines of the source around `line`, the line itself marked; empty for a line that it has not.
std::string code_around(std::string_view source, long line);

// One line of untrusted text, as it is shown.
std::string cut_line(std::string_view line);

}  // namespace kagent::toolchain
