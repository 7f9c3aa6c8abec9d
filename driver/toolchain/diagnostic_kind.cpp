// SPDX-License-Identifier: Apache-2.0
#include "toolchain/diagnostic_kind.h"

#include <algorithm>
#include <array>

#include "toolchain/messages.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace {

constexpr std::size_t kMostDiagnostics = 8;

struct Phrase {
  std::string_view text;
  DiagnosticKind kind;
};

// What g++ 12, clang, nvcc 12 and 13, NVRTC, ptxas, nvlink and ld say; the first phrase that occurs decides.
constexpr std::array<Phrase, 62> kPhrases = {{
    {"uses too much shared data", DiagnosticKind::shared_memory},
    {"No such file or directory", DiagnosticKind::missing_include},
    {"file not found", DiagnosticKind::missing_include},
    {"cannot open source file", DiagnosticKind::missing_include},
    {"could not open source file", DiagnosticKind::missing_include},
    {"not supported on .target", DiagnosticKind::unsupported},
    {"not supported for .target", DiagnosticKind::unsupported},
    {"Not a name of any known instruction", DiagnosticKind::unsupported},
    {"requires .target sm_", DiagnosticKind::unsupported},
    {"requires PTX ISA", DiagnosticKind::unsupported},
    {"Unknown modifier", DiagnosticKind::unsupported},
    {"cannot be compiled for architecture", DiagnosticKind::unsupported},
    {"is not supported for this architecture", DiagnosticKind::unsupported},
    {"is only supported for", DiagnosticKind::unsupported},
    {"target specific option mismatch", DiagnosticKind::unsupported},
    {"needs target feature", DiagnosticKind::unsupported},
    {"always_inline function", DiagnosticKind::unsupported},
    {"too many registers", DiagnosticKind::registers},
    {"out of registers", DiagnosticKind::registers},
    {"Too many registers", DiagnosticKind::registers},
    {"register allocation failed", DiagnosticKind::registers},
    {"undefined reference to", DiagnosticKind::undefined_symbol},
    {"Undefined reference to", DiagnosticKind::undefined_symbol},
    {"undefined symbol", DiagnosticKind::undefined_symbol},
    {"Unresolved extern", DiagnosticKind::undefined_symbol},
    {"argument deduction", DiagnosticKind::template_deduction},
    {"no instance of function template", DiagnosticKind::template_deduction},
    {"no instance of overloaded function", DiagnosticKind::type_mismatch},
    {"no matching function template", DiagnosticKind::template_deduction},
    {"deduced conflicting types", DiagnosticKind::template_deduction},
    {"could not deduce template", DiagnosticKind::template_deduction},
    {"couldn't deduce template", DiagnosticKind::template_deduction},
    {"couldn't infer template", DiagnosticKind::template_deduction},
    {"failed deduction", DiagnosticKind::template_deduction},
    {"wrong number of template arguments", DiagnosticKind::template_deduction},
    {"too few arguments for class template", DiagnosticKind::template_deduction},
    {"was not declared", DiagnosticKind::undeclared_name},
    {"has not been declared", DiagnosticKind::undeclared_name},
    {"undeclared identifier", DiagnosticKind::undeclared_name},
    {"is undefined", DiagnosticKind::undeclared_name},
    {"does not name a type", DiagnosticKind::undeclared_name},
    {"unknown type name", DiagnosticKind::undeclared_name},
    {"has no member", DiagnosticKind::undeclared_name},
    {"no member named", DiagnosticKind::undeclared_name},
    {"is not a member of", DiagnosticKind::undeclared_name},
    {"not a class or namespace name", DiagnosticKind::undeclared_name},
    {"no matching function for call", DiagnosticKind::type_mismatch},
    {"cannot be used to initialize", DiagnosticKind::type_mismatch},
    {"cannot be assigned to", DiagnosticKind::type_mismatch},
    {"is incompatible with", DiagnosticKind::type_mismatch},
    {"cannot convert", DiagnosticKind::type_mismatch},
    {"no suitable conversion", DiagnosticKind::type_mismatch},
    {"no viable conversion", DiagnosticKind::type_mismatch},
    {"invalid conversion", DiagnosticKind::type_mismatch},
    {"incompatible type", DiagnosticKind::type_mismatch},
    {"invalid operands", DiagnosticKind::type_mismatch},
    {"no operator", DiagnosticKind::type_mismatch},
    {"arguments in function call", DiagnosticKind::type_mismatch},
    {"arguments to function", DiagnosticKind::type_mismatch},
    {"no match for", DiagnosticKind::type_mismatch},
    {"expected ", DiagnosticKind::syntax},
    {"syntax error", DiagnosticKind::syntax},
}};

std::string_view line_of(std::string_view source, long line) {
  for (long number = 1; number < line && !source.empty(); ++number)
    source.remove_prefix(
        std::min(source.size(), source.find('\n') == source.npos ? source.size() : source.find('\n') + 1));
  return source.substr(0, source.find('\n'));
}

bool is_unroll_pragma(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" \t");
  return at != line.npos && line.substr(at).starts_with("#") && line.find("pragma") != line.npos &&
         line.find("unroll") != line.npos;
}

DiagnosticKind kind_of(std::string_view message) {
  const auto found =
      std::ranges::find_if(kPhrases, [&](const Phrase& phrase) { return message.find(phrase.text) != message.npos; });
  return found != kPhrases.end() ? found->kind : DiagnosticKind::other;
}

std::string advice_for(DiagnosticKind kind) {
  switch (kind) {
    case DiagnosticKind::pragma_macro:
      return "nvcc does not expand macros inside '#pragma unroll': write 'constexpr int kUnroll = MACRO;' before the "
             "loop and '#pragma unroll kUnroll'";
    case DiagnosticKind::shared_memory:
      return "static shared memory ends at 48 KiB: use less, or dynamic shared memory ('extern __shared__') with "
             "cudaFuncSetAttribute(..., cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)";
    case DiagnosticKind::unsupported:
      return "this architecture does not have it; instructions such as wgmma and setmaxnreg need the "
             "architecture-specific target (sm_90a)";
    case DiagnosticKind::undefined_symbol:
      return "the source is compiled and linked alone: define what it calls in it or in a header";
    case DiagnosticKind::missing_include:
      return "only headers of the project, the compiler and the CUDA Toolkit can be included";
    case DiagnosticKind::undeclared_name:
    case DiagnosticKind::type_mismatch:
    case DiagnosticKind::template_deduction:
    case DiagnosticKind::syntax:
    case DiagnosticKind::registers:
    case DiagnosticKind::limit:
    case DiagnosticKind::other:
      return {};
  }
  return {};
}

Diagnostic make_diagnostic(const Message& message, const DiagnosticsContext& context) {
  Diagnostic diagnostic;
  diagnostic.kind = kind_of(message.text);
  diagnostic.message = cut_line(message.text);
  diagnostic.file = message.file == context.source_path ? context.source_name : message.file;
  if (is_of_source(message, context)) {
    diagnostic.line = message.line;
    diagnostic.excerpt = code_around(context.source_text, message.line);
    if (diagnostic.kind == DiagnosticKind::undeclared_name &&
        is_unroll_pragma(line_of(context.source_text, message.line)))
      diagnostic.kind = DiagnosticKind::pragma_macro;
  } else {
    for (const std::string& line : message.code) diagnostic.excerpt += line + "\n";
  }
  diagnostic.advice = advice_for(diagnostic.kind);
  return diagnostic;
}

// What kagent itself says of a tool that it stopped: "the compiler took longer than 60000 ms".
bool is_of_a_limit(std::string_view line) {
  return line.starts_with("the ") &&
         (line.find(" took longer than ") != line.npos || line.find(" needed more than ") != line.npos ||
          line.find(" printed more than ") != line.npos || line.find(" was ended by ") != line.npos);
}

}  // namespace

std::string_view name(DiagnosticKind kind) {
  switch (kind) {
    case DiagnosticKind::undeclared_name:
      return "undeclared_name";
    case DiagnosticKind::type_mismatch:
      return "type_mismatch";
    case DiagnosticKind::template_deduction:
      return "template_deduction";
    case DiagnosticKind::missing_include:
      return "missing_include";
    case DiagnosticKind::syntax:
      return "syntax";
    case DiagnosticKind::unsupported:
      return "unsupported";
    case DiagnosticKind::shared_memory:
      return "shared_memory";
    case DiagnosticKind::registers:
      return "registers";
    case DiagnosticKind::undefined_symbol:
      return "undefined_symbol";
    case DiagnosticKind::pragma_macro:
      return "pragma_macro";
    case DiagnosticKind::limit:
      return "limit";
    case DiagnosticKind::other:
      return "other";
  }
  return {};
}

std::vector<Diagnostic> diagnose(std::string_view output, const DiagnosticsContext& context) {
  const std::string raw = util::clean(output, kMostRawBytes);
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string> seen;
  if (const std::string_view first = std::string_view(raw).substr(0, raw.find('\n')); is_of_a_limit(first))
    diagnostics.push_back({DiagnosticKind::limit, {}, 0, cut_line(first), {}, {}});
  for (const Message& message : parse_messages(raw, context)) {
    if (diagnostics.size() == kMostDiagnostics) break;
    if (message.severity != Severity::error || std::ranges::find(seen, message.shown) != seen.end()) continue;
    seen.push_back(message.shown);
    diagnostics.push_back(make_diagnostic(message, context));
  }
  // GNU ld says it without the word "error".
  if (diagnostics.empty())
    for (const std::string& symbol : undefined_references(raw)) {
      if (diagnostics.size() == kMostDiagnostics) break;
      diagnostics.push_back({DiagnosticKind::undefined_symbol,
                             {},
                             0,
                             "undefined reference to '" + symbol + "'",
                             {},
                             advice_for(DiagnosticKind::undefined_symbol)});
    }
  return diagnostics;
}

std::string classified(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  std::vector<DiagnosticKind> told;
  for (const Diagnostic& first : diagnostics) {
    if (first.kind == DiagnosticKind::other || std::ranges::find(told, first.kind) != told.end()) continue;
    told.push_back(first.kind);
    std::string lines;
    for (const Diagnostic& one : diagnostics)
      if (one.kind == first.kind && one.line > 0)
        lines += (lines.empty() ? " at line " : ", ") + std::to_string(one.line);
    text += "class: " + std::string(name(first.kind)) + lines + "\n";
    if (!first.advice.empty()) text += "advice: " + first.advice + "\n";
  }
  return text;
}

}  // namespace kagent::toolchain
