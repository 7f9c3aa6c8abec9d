// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string_view>

#include "gate/device.h"
#include "gate/finding.h"

namespace kagent::gate {

namespace {

// A string this long, or more numbers than this, is data and not code: tables of a kernel are smaller.
constexpr std::size_t kLongestString = 4096;
constexpr std::size_t kMostNumbers = 8192;
// In tokens. Longer ones are cut: a text of nested attributes would otherwise be read again from each of them.
constexpr std::size_t kLongestConstruct = 256;

std::string shown(const std::string& text) {
  constexpr std::size_t kMost = 100;
  return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
}

// "__always_inline__" is "always_inline".
std::string_view bare(std::string_view name) {
  if (name.size() > 4 && name.starts_with("__") && name.ends_with("__")) return name.substr(2, name.size() - 4);
  return name;
}

bool is_harmless_attribute(std::string_view name) {
  static const std::set<std::string_view> names = {"access",
                                                   "aligned",
                                                   "alloc_align",
                                                   "alloc_size",
                                                   "always_inline",
                                                   "artificial",
                                                   "assume",
                                                   "assume_aligned",
                                                   "carries_dependency",
                                                   "cold",
                                                   "const",
                                                   "deprecated",
                                                   "ext_vector_type",
                                                   "fallthrough",
                                                   "flatten",
                                                   "gnu_inline",
                                                   "hot",
                                                   "leaf",
                                                   "likely",
                                                   "malloc",
                                                   "may_alias",
                                                   "maybe_unused",
                                                   "no_sanitize",
                                                   "no_unique_address",
                                                   "noclone",
                                                   "nodiscard",
                                                   "noinline",
                                                   "noipa",
                                                   "nonnull",
                                                   "noreturn",
                                                   "nothrow",
                                                   "packed",
                                                   "pure",
                                                   "restrict",
                                                   "returns_nonnull",
                                                   "unlikely",
                                                   "unused",
                                                   "used",
                                                   "vector_size",
                                                   "warn_unused_result",
                                                   "simd",
                                                   "no_icf",
                                                   "noalias",
                                                   "mode",
                                                   "neon_vector_type",
                                                   "vectorcall",
                                                   "visibility",
                                                   "internal_linkage",
                                                   "uninitialized"};
  return names.contains(name);
}

// The attribute at `index` of the list [begin, end).
void find_attribute(const Tokens& tokens, std::size_t index, std::size_t begin, std::size_t end, Findings& findings) {
  const Token& token = tokens[index];
  const std::string_view name = bare(token.text);
  if (is_harmless_attribute(name)) return;
  const std::string subject = spelled(tokens, begin, end);
  const std::string quoted = "attribute '" + std::string(name) + "': ";
  if (name == "target" || name == "target_clones" || name == "target_version")
    findings.push_back({"attribute-target", subject, token.line,
                        quoted + "code beyond the target's own instruction set would run unchecked; file it under a "
                                 "higher architecture instead"});
  else if (name == "optimize" || name == "optnone")
    findings.push_back({"attribute-optimize", subject, token.line,
                        quoted + "the build's own options decide how the code is compiled"});
  else
    findings.push_back({"attribute", subject, token.line, quoted + "not among the attributes that candidates may use"});
}

// Names in an attribute list: what stands first or behind a comma, with a namespace in front passed over.
void find_attributes(const Tokens& tokens, std::size_t begin, std::size_t end, Findings& findings) {
  end = std::min(end, begin + kLongestConstruct);
  bool expected = true;
  for (std::size_t i = begin; i < end; ++i) {
    if (tokens[i].is("("))
      i = past_group(tokens, i) - 1;
    else if (tokens[i].is(",") || tokens[i].is(":"))
      expected = true;
    else if (tokens[i].is("using"))
      expected = false;
    else if (tokens[i].is_identifier() && i + 1 < end && tokens[i + 1].is("::"))
      ++i;
    else if (tokens[i].is_identifier() && expected)
      find_attribute(tokens, i, begin, end, findings), expected = false;
  }
}

bool is_forged_address(const Tokens& tokens, std::size_t index) {
  // reinterpret_cast<float*>(0x7f0000000000)
  if (!tokens[index].is("reinterpret_cast")) return false;
  std::size_t i = index + 1;
  const std::size_t most = std::min(tokens.size(), index + kLongestConstruct);
  while (i < most && !tokens[i].is("(")) ++i;
  return i + 1 < tokens.size() && tokens[i + 1].kind == TokenKind::number;
}

void find_linkage(const Tokens& tokens, std::size_t index, Findings& findings) {
  std::size_t end = index + 1;
  const std::size_t most = std::min(tokens.size(), index + kLongestConstruct);
  while (end < most && !tokens[end].is(";") && !tokens[end].is("{") && !tokens[end].is("=")) ++end;
  const std::string subject = spelled(tokens, index, end);
  findings.push_back({"foreign-declaration", subject, tokens[index].line,
                      "'" + shown(subject) + "': candidates may not reach for what other files define"});
}

}  // namespace

void find_constructs(const Tokens& tokens, CodeKind kind, Findings& findings) {
  std::size_t numbers = 0;
  for (std::size_t i = 0; i < tokens.size() && findings.size() < kMostFindings; ++i) {
    const Token& token = tokens[i];
    if (token.kind == TokenKind::number) ++numbers;
    if (token.kind == TokenKind::string && token.text.size() > kLongestString)
      findings.push_back(
          {"embedded-blob", token.text, token.line,
           "a string of " + std::to_string(token.text.size()) + " bytes: candidates may not embed data"});
    if (kind != CodeKind::host && is_cuda_idiom(tokens, i)) continue;
    const bool next_is_group = i + 1 < tokens.size() && tokens[i + 1].is("(");
    if (token.is("asm") || token.is("__asm") || token.is("__asm__")) {
      std::size_t end = i + 1;
      while (end < std::min(tokens.size(), i + 4) && tokens[end].is_identifier()) ++end;
      if (end < tokens.size() && tokens[end].is("(")) end = std::min(past_group(tokens, end), i + kLongestConstruct);
      const std::string subject = spelled(tokens, i, end);
      findings.push_back(
          {"inline-assembly", subject, token.line, "'" + shown(subject) + "': candidates may not use assembler"});
    } else if ((token.is("__attribute__") || token.is("__attribute")) && next_is_group) {
      const std::size_t end = past_group(tokens, i + 1);
      // Two pairs of parentheses.
      if (i + 2 < end && tokens[i + 2].is("("))
        find_attributes(tokens, i + 3, past_group(tokens, i + 2) - 1, findings);
      else
        find_attributes(tokens, i + 2, end, findings);
    } else if (token.is("__attribute__") || token.is("__attribute") || token.is("__declspec")) {
      findings.push_back(
          {"attribute", token.text, token.line, "'" + token.text + "' must be followed by its list, written out"});
    } else if (token.is("[") && i + 1 < tokens.size() && tokens[i + 1].is("[")) {
      find_attributes(tokens, i + 2, past_group(tokens, i + 1) - 1, findings);
    } else if (token.is("extern")) {
      find_linkage(tokens, i, findings);
    } else if (token.is("import") && token.starts_line) {
      findings.push_back({"foreign-include", "import", token.line, "'import': candidates may not import modules"});
    } else if (is_forged_address(tokens, i)) {
      findings.push_back({"forged-address", spelled(tokens, i, std::min(i + 8, tokens.size())), token.line,
                          "a pointer made of a number: candidates may only use what they are given"});
    }
  }
  if (numbers > kMostNumbers)
    findings.push_back(
        {"embedded-blob", "numbers", 0, std::to_string(numbers) + " numbers: candidates may not embed data"});
}

}  // namespace kagent::gate
