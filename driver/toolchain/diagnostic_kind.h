// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "toolchain/diagnostics.h"

namespace kagent::toolchain {

// What a compiler's error is about, as far as its repair depends on it.
enum class DiagnosticKind {
  undeclared_name,      // a name that nothing declares
  type_mismatch,        // arguments, initialisers, conversions that do not fit
  template_deduction,   // no template, or no instance of it, fits
  missing_include,      // a header that does not exist
  constant_expression,  // a value that has to be known when compiling and is not
  redefinition,         // a name that is there already
  static_assertion,     // a condition that the code itself states
  host_function,        // called by code of the device
  syntax,               // text that does not parse
  unsupported,          // no such instruction, intrinsic or feature on this architecture
  shared_memory,        // static shared memory over the limit
  registers,            // registers over the limit of the launch bounds
  undefined_symbol,     // the linker (host or device) does not find a function
  pragma_macro,         // a macro in a pragma, where nvcc does not expand it
  limit,                // the compiler was stopped: time, memory, size
  other,
};

// The enumerator's own name ("undeclared_name").
std::string_view name(DiagnosticKind kind);

// One error of a compiler, assembler or linker.
struct Diagnostic {
  DiagnosticKind kind = DiagnosticKind::other;
  std::string file;     // as it is shown; empty: of the tool itself
  long line = 0;        // in the source as its author counts lines: where the error is, else what led to it; 0: unknown
  std::string message;  // core message: no file, no "error:"
  std::string excerpt;  // up to three lines of code around it, "  > 12 | code"; empty where none is known
  std::string advice;   // what usually helps; empty where nothing general can be said
};

// The errors in the output of g++, clang, nvcc, NVRTC, ptxas or nvlink, in order, without repetitions, at most eight.
std::vector<Diagnostic> diagnose(std::string_view output, const DiagnosticsContext& context);

// What a model repairs a candidate by, behind the distilled text: for each kind of error "class: undeclared_name at
// line 3, 7", the code around where only this says which, and "advice: ..." where something usually helps. Errors of no
// known kind are left out.
std::string classified(const std::vector<Diagnostic>& diagnostics);

}  // namespace kagent::toolchain
