// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string_view>

#include "gate/device.h"
#include "gate/finding.h"

namespace kagent::gate {

namespace {

// Headers of the standard library and the processors' intrinsics that a compute kernel may need, and that reach nothing
// outside. All others must be the parent's.
const std::set<std::string_view>& harmless_headers() {
  static const std::set<std::string_view> headers = {"<algorithm>",    "<array>",       "<bit>",
                                                     "<bitset>",       "<cassert>",     "<cfloat>",
                                                     "<climits>",      "<cmath>",       "<compare>",
                                                     "<complex>",      "<concepts>",    "<cstddef>",
                                                     "<cstdint>",      "<cstdlib>",     "<cstring>",
                                                     "<deque>",        "<functional>",  "<initializer_list>",
                                                     "<iterator>",     "<limits>",      "<memory>",
                                                     "<new>",          "<numbers>",     "<numeric>",
                                                     "<optional>",     "<ranges>",      "<span>",
                                                     "<stdexcept>",    "<string_view>", "<tuple>",
                                                     "<type_traits>",  "<utility>",     "<valarray>",
                                                     "<variant>",      "<vector>",      "<version>",
                                                     "<iso646.h>",     "<assert.h>",    "<float.h>",
                                                     "<limits.h>",     "<math.h>",      "<stdbool.h>",
                                                     "<stddef.h>",     "<stdint.h>",    "<stdlib.h>",
                                                     "<string.h>",     "<stdalign.h>",  "<tgmath.h>",
                                                     "<complex.h>",    "<omp.h>",       "<experimental/simd>",
                                                     "<immintrin.h>",  "<x86intrin.h>", "<xmmintrin.h>",
                                                     "<emmintrin.h>",  "<pmmintrin.h>", "<tmmintrin.h>",
                                                     "<smmintrin.h>",  "<nmmintrin.h>", "<wmmintrin.h>",
                                                     "<ammintrin.h>",  "<bmiintrin.h>", "<avxintrin.h>",
                                                     "<avx2intrin.h>", "<mm_malloc.h>", "<arm_neon.h>",
                                                     "<arm_sve.h>",    "<arm_fp16.h>",  "<arm_bf16.h>",
                                                     "<arm_acle.h>",   "<stdfloat>"};
  return headers;
}

std::string shown(const Tokens& tokens, std::size_t begin, std::size_t end) {
  constexpr std::size_t kMost = 100;
  std::string text = spelled(tokens, begin, end);
  return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
}

// What may be included depends on these.
struct Policy {
  CodeKind kind;
  const Rules& rules;
};

void find_include(const Tokens& tokens, std::size_t name, std::size_t end, const Policy& policy, Findings& findings) {
  const Token& directive = tokens[name];
  const std::string subject = spelled(tokens, name, end);
  const auto add = [&](const char* rule, const std::string& why) {
    findings.push_back({rule, subject, directive.line, "#" + shown(tokens, name, end) + ": " + why});
  };
  if (directive.text == "embed") return add("embedded-file", "candidates may not embed files");
  if (end != name + 2 || tokens[name + 1].kind != TokenKind::string)
    return add("computed-include", "an include must name its header");
  if (directive.text != "include") return add("foreign-include", "only #include may be used");
  const std::string& header = tokens[name + 1].text;
  if (harmless_headers().contains(header) || is_device_header(header, policy.kind, policy.rules)) return;
  if (header.size() > 1 && header[1] == '/')
    return add("absolute-include", "candidates may not include absolute paths");
  if (header.find("..") != header.npos) return add("absolute-include", "candidates may not include paths with '..'");
  std::string why = "not among the headers that the source includes already, nor a harmless standard header";
  for (const std::string library : {"cub", "thrust"})
    if (policy.kind != CodeKind::host && header.starts_with("<" + library + "/"))
      why += " (kernel.json may allow it: \"rules\": {\"libraries\": [\"" + library + "\"]})";
  add("foreign-include", why);
}

// The words of a pragma, wherever it came from, are judged by the first one or two.
void find_pragma(const Tokens& tokens, std::size_t begin, std::size_t end, int line, Findings& findings) {
  const auto word = [&](std::size_t i) {
    return begin + i < end ? std::string_view(tokens[begin + i].text) : std::string_view();
  };
  const std::string subject = spelled(tokens, begin, end);
  const auto add = [&](const char* rule, const std::string& why) {
    findings.push_back({rule, subject, line, "#pragma " + shown(tokens, begin, end) + ": " + why});
  };
  if (word(0).empty() || word(0) == "once" || word(0) == "unroll" || word(0) == "nounroll" || word(0) == "ivdep")
    return;
  static const std::set<std::string_view> harmless_cuda = {"nv_diag_suppress", "nv_diag_default",
                                                           "nv_diag_warning",  "nv_diag_error",
                                                           "nv_diagnostic",    "nv_exec_check_disable"};
  if (harmless_cuda.contains(word(0))) return;
  if (word(0) == "omp") {
    for (std::size_t i = begin; i < end; ++i) {
      if (tokens[i].is("target")) return add("pragma", "candidates may not offload");
      if (tokens[i].is("threadprivate") || tokens[i].is("detach"))
        return add("pragma", "candidates may not keep values or tasks beyond the call");
    }
    return;
  }
  static const std::set<std::string_view> harmless_gcc = {"ivdep", "unroll", "novector", "diagnostic",
                                                          "no_loop_vectorize"};
  if (word(0) == "GCC" && harmless_gcc.contains(word(1))) return;
  if (word(0) == "clang" && (word(1) == "loop" || word(1) == "diagnostic")) return;
  if (word(0) == "GCC" && word(1) == "target")
    return add("pragma-target",
               "code beyond the target's own instruction set would run unchecked; file it under a higher architecture "
               "instead");
  if ((word(0) == "GCC" && (word(1) == "optimize" || word(1) == "push_options" || word(1) == "pop_options" ||
                            word(1) == "reset_options")) ||
      word(0) == "optimize" || word(0) == "clang" || word(0) == "float_control" || word(0) == "fp_contract" ||
      word(0) == "STDC")
    return add("pragma-optimize",
               "the build's own options decide how the code is compiled and how exactly it computes");
  add("pragma", "not among the pragmas that candidates may use");
}

void find_macro(const Tokens& tokens, std::size_t name, std::size_t end, Findings& findings) {
  if (name + 1 >= end) return;
  static const std::set<std::string_view> keywords = {
      "alignas",   "auto",      "bool",    "break",    "case",     "catch",   "char",      "class",    "const",
      "constexpr", "continue",  "default", "delete",   "do",       "double",  "else",      "enum",     "extern",
      "false",     "float",     "for",     "friend",   "goto",     "if",      "inline",    "int",      "long",
      "mutable",   "namespace", "new",     "noexcept", "operator", "private", "protected", "public",   "register",
      "return",    "short",     "signed",  "sizeof",   "static",   "struct",  "switch",    "template", "this",
      "throw",     "true",      "try",     "typedef",  "typename", "union",   "unsigned",  "using",    "virtual",
      "void",      "volatile",  "while",   "assert",   "std",      "defined"};
  const Token& macro = tokens[name + 1];
  const std::string subject = tokens[name].text + " " + macro.text;
  if (keywords.contains(macro.text) || macro.text.starts_with("__"))
    findings.push_back({"macro-redefinition", subject, macro.line,
                        "#" + subject + ": candidates may not redefine words of the language or the compiler"});
  // A macro that hides the word which makes a variable last.
  const auto has = [&](std::string_view word) {
    return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(name) + 2,
                       tokens.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](const Token& token) { return token.is(word); });
  };
  const bool lasts = has("thread_local") || (has("static") && !has("inline") && !has("const") && !has("constexpr"));
  if (tokens[name].text == "define" && (lasts || has("extern")))
    findings.push_back({"static-state", spelled(tokens, name, end), macro.line,
                        "#" + shown(tokens, name, end) + ": a macro may not hide storage or linkage"});
}

void find_directive(const Tokens& tokens, std::size_t hash, std::size_t end, const Policy& policy, Findings& findings) {
  const std::size_t name = hash + 1;
  if (name >= end) return;
  const std::string& word = tokens[name].text;
  if (word == "include" || word == "include_next" || word == "import" || word == "embed")
    return find_include(tokens, name, end, policy, findings);
  if (word == "pragma") return find_pragma(tokens, name + 1, end, tokens[hash].line, findings);
  if (word == "define" || word == "undef") return find_macro(tokens, name, end, findings);
  static const std::set<std::string_view> harmless = {"if",       "ifdef", "ifndef", "elif",  "elifdef",
                                                      "elifndef", "else",  "endif",  "error", "warning"};
  if (harmless.contains(word)) return;
  const bool line = word == "line" || tokens[name].kind == TokenKind::number;
  findings.push_back({line ? "line-directive" : "directive", spelled(tokens, name, end), tokens[hash].line,
                      "#" + shown(tokens, name, end) +
                          (line ? ": candidates may not say where their lines come from" : ": unknown directive")});
}

// _Pragma("omp simd"), where the string is a line of its own.
void find_pragma_operator(const Tokens& tokens, std::size_t index, Findings& findings) {
  if (index + 2 >= tokens.size() || tokens[index + 2].kind != TokenKind::string) {
    findings.push_back({"pragma", "_Pragma", tokens[index].line, "_Pragma must be given a string"});
    return;
  }
  std::string text;
  const std::string& literal = tokens[index + 2].text;
  const std::size_t open = literal.find('"'), close = literal.rfind('"');
  for (std::size_t i = open + 1; i < close; ++i) {
    if (literal[i] == '\\' && i + 1 < close) ++i;
    text += literal[i];
  }
  const Tokens words = lex(text).tokens;
  find_pragma(words, 0, words.size(), tokens[index].line, findings);
}

}  // namespace

void find_directives(const Tokens& tokens, CodeKind kind, const Rules& rules, Findings& findings) {
  for (std::size_t i = 0; i < tokens.size() && findings.size() < kMostFindings; ++i) {
    const Token& token = tokens[i];
    if (begins_directive(tokens, i)) find_directive(tokens, i, end_of_line(tokens, i), {kind, rules}, findings);
    if (token.is("##"))
      findings.push_back({"token-pasting", "##", token.line, "'##': candidates may not put names together"});
    if (token.is("\\"))
      findings.push_back({"stray-backslash", "\\", token.line, "'\\' outside of a string: names must be written out"});
    if (token.is_identifier() && (token.text == "_Pragma" || token.text == "__pragma"))
      find_pragma_operator(tokens, i, findings);
  }
}

}  // namespace kagent::gate
