// SPDX-License-Identifier: Apache-2.0
#include "toolchain/diagnostic_kind.h"

#include <algorithm>
#include <span>

#include "toolchain/messages.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace {

constexpr std::size_t kMostDiagnostics = 8;

struct Phrase {
  std::string_view text;
  DiagnosticKind kind;
};

// What g++ 12, clang 14, nvcc 12 and 13, NVRTC, ptxas, nvlink and ld say; the first phrase that occurs decides.
constexpr Phrase kPhrases[] = {
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
    {"incomplete type \"nvcuda::wmma::fragment", DiagnosticKind::unsupported},
    {"target specific option mismatch", DiagnosticKind::unsupported},
    {"target feature", DiagnosticKind::unsupported},
    {"always_inline", DiagnosticKind::unsupported},
    {"too many registers", DiagnosticKind::registers},
    {"out of registers", DiagnosticKind::registers},
    {"Too many registers", DiagnosticKind::registers},
    {"register allocation failed", DiagnosticKind::registers},
    {"undefined reference to", DiagnosticKind::undefined_symbol},
    {"Undefined reference to", DiagnosticKind::undefined_symbol},
    {"undefined symbol", DiagnosticKind::undefined_symbol},
    {"Unresolved extern", DiagnosticKind::undefined_symbol},
    {"static assertion failed", DiagnosticKind::static_assertion},
    {"static_assert failed", DiagnosticKind::static_assertion},
    {"calling a __host__ function", DiagnosticKind::host_function},
    {"host functions are not allowed", DiagnosticKind::host_function},
    {"a constant expression", DiagnosticKind::constant_expression},
    {"must have a constant value", DiagnosticKind::constant_expression},
    {"argument deduction", DiagnosticKind::template_deduction},
    {"no instance of function template", DiagnosticKind::template_deduction},
    {"no instance of overloaded function", DiagnosticKind::type_mismatch},
    {"no matching function template", DiagnosticKind::template_deduction},
    {"deduced conflicting types", DiagnosticKind::template_deduction},
    {"could not deduce template", DiagnosticKind::template_deduction},
    {"couldn't deduce template", DiagnosticKind::template_deduction},
    {"couldn't infer template", DiagnosticKind::template_deduction},
    {"failed deduction", DiagnosticKind::template_deduction},
    {"template arguments", DiagnosticKind::template_deduction},
    {"too few arguments for class template", DiagnosticKind::template_deduction},
    {"too many arguments for class template", DiagnosticKind::template_deduction},
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
    {"redeclaration of", DiagnosticKind::redefinition},
    {"redefinition of", DiagnosticKind::redefinition},
    {"already been declared", DiagnosticKind::redefinition},
    {"already been defined", DiagnosticKind::redefinition},
    {"multiple definition of", DiagnosticKind::redefinition},
    {"no matching function for call", DiagnosticKind::type_mismatch},
    {"cannot be used to initialize", DiagnosticKind::type_mismatch},
    {"cannot initialize a", DiagnosticKind::type_mismatch},
    {"cannot be assigned to", DiagnosticKind::type_mismatch},
    {"is not assignable", DiagnosticKind::type_mismatch},
    {"read-only", DiagnosticKind::type_mismatch},
    {"modifiable lvalue", DiagnosticKind::type_mismatch},
    {"is incompatible with", DiagnosticKind::type_mismatch},
    {"cannot convert", DiagnosticKind::type_mismatch},
    {"could not convert", DiagnosticKind::type_mismatch},
    {"no suitable conversion", DiagnosticKind::type_mismatch},
    {"no viable conversion", DiagnosticKind::type_mismatch},
    {"invalid conversion", DiagnosticKind::type_mismatch},
    {"incompatible type", DiagnosticKind::type_mismatch},
    {"invalid operands", DiagnosticKind::type_mismatch},
    {"no operator", DiagnosticKind::type_mismatch},
    {"arguments in function call", DiagnosticKind::type_mismatch},
    {"arguments to function", DiagnosticKind::type_mismatch},
    {"Arguments mismatch for instruction", DiagnosticKind::type_mismatch},
    {"no match for", DiagnosticKind::type_mismatch},
    {"expected ", DiagnosticKind::syntax},
    {"syntax error", DiagnosticKind::syntax},
};

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
  return found != std::end(kPhrases) ? found->kind : DiagnosticKind::other;
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
      return "this architecture does not have it, as the build compiles for it; the flags cannot be changed, and "
             "instructions such as wgmma or tcgen05 need code for one architecture alone (sm_90a, sm_100a)";
    case DiagnosticKind::undefined_symbol:
      return "the source is compiled and linked alone: define what it calls in it or in a header";
    case DiagnosticKind::missing_include:
      return "only headers of the project, the compiler and the CUDA Toolkit can be included; device code alone (style "
             "\"kernel\") has none of the host: keep them out by '#ifndef __CUDACC_RTC__', or use cuda/std/";
    case DiagnosticKind::host_function:
      return "functions that a kernel calls are marked __device__";
    case DiagnosticKind::constant_expression:
      return "array extents, template arguments and constexpr values have to be known when compiling: a macro or a "
             "literal, not a parameter";
    case DiagnosticKind::undeclared_name:
    case DiagnosticKind::type_mismatch:
    case DiagnosticKind::template_deduction:
    case DiagnosticKind::redefinition:
    case DiagnosticKind::static_assertion:
    case DiagnosticKind::syntax:
    case DiagnosticKind::registers:
    case DiagnosticKind::limit:
    case DiagnosticKind::other:
      return {};
  }
  return {};
}

// The first line of the source with `word` in it; 0: none.
long first_line_with(std::string_view source, std::string_view word) {
  const std::size_t at = word.empty() ? source.npos : source.find(word);
  return at == source.npos ? 0 : 1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n');
}

// The assembler counts lines of its own input. The source is not far: it names the instruction, or holds the array.
long likely_line(const Message& message, DiagnosticKind kind, std::string_view source) {
  if (!message.file.empty() && message.line > 0) return 0;
  if (kind == DiagnosticKind::shared_memory) return first_line_with(source, "__shared__");
  if (kind != DiagnosticKind::unsupported && kind != DiagnosticKind::type_mismatch) return 0;
  const std::size_t begin = message.text.find('\'') + 1, end = message.text.find('\'', begin);
  if (begin == 0 || end == message.text.npos) return 0;
  const std::string_view instruction = std::string_view(message.text).substr(begin, end - begin);
  if (const long line = first_line_with(source, instruction); line > 0) return line;
  return first_line_with(source, std::string(instruction.substr(0, instruction.find('.'))) + '.');
}

// `notes` are those behind the message.
Diagnostic make_diagnostic(const Message& message, std::span<const Message> notes, const DiagnosticsContext& context) {
  Diagnostic diagnostic;
  diagnostic.kind = kind_of(message.text);
  diagnostic.message = cut_line(message.text);
  diagnostic.file = message.file == context.source_path ? context.source_name : message.file;
  const auto of_source = [&](const Message& note) { return is_of_source(note, context); };
  const auto of_template = [](const Message& note) {
    return note.text.find("template argument deduction") != note.text.npos ||
           note.text.find("candidate template ignored") != note.text.npos;
  };
  if (diagnostic.kind == DiagnosticKind::type_mismatch && std::ranges::any_of(notes, of_template))
    diagnostic.kind = DiagnosticKind::template_deduction;
  if (is_of_source(message, context)) {
    diagnostic.line = message.line;
    if (diagnostic.kind == DiagnosticKind::undeclared_name &&
        is_unroll_pragma(line_of(context.source_text, message.line)))
      diagnostic.kind = DiagnosticKind::pragma_macro;
  } else if (const auto led_to_it = std::ranges::find_if(notes, of_source); led_to_it != notes.end()) {
    diagnostic.line = led_to_it->line;
  } else {
    diagnostic.line = likely_line(message, diagnostic.kind, context.source_text);
  }
  if (diagnostic.line > 0)
    diagnostic.excerpt = code_around(context.source_text, diagnostic.line);
  else
    for (const std::string& line : message.code) diagnostic.excerpt += line + "\n";
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
    case DiagnosticKind::constant_expression:
      return "constant_expression";
    case DiagnosticKind::redefinition:
      return "redefinition";
    case DiagnosticKind::static_assertion:
      return "static_assertion";
    case DiagnosticKind::host_function:
      return "host_function";
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
  const std::vector<Message> messages = parse_messages(raw, context);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    if (diagnostics.size() == kMostDiagnostics) break;
    if (message.severity != Severity::error || std::ranges::find(seen, message.shown) != seen.end()) continue;
    seen.push_back(message.shown);
    const auto notes = std::span(messages).subspan(i + 1);
    const auto end = std::ranges::find_if(notes, [](const Message& one) { return one.severity != Severity::note; });
    diagnostics.push_back(make_diagnostic(message, {notes.begin(), end}, context));
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
    // The distilled text shows code where the compiler told a place.
    if (first.file.empty() && first.line > 0) text += first.excerpt;
    if (!first.advice.empty()) text += "advice: " + first.advice + "\n";
  }
  return text;
}

}  // namespace kagent::toolchain
