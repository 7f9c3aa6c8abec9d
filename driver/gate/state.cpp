// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string_view>

#include "gate/finding.h"

namespace kagent::gate {

namespace {

// In tokens. Without a bound, a long text of nothing but "static" would be read again from each of them.
constexpr std::size_t kLongestDeclarator = 256;

// Where a declaration's name and type end: the first of these outside of template arguments.
std::size_t end_of_declarator(const Tokens& tokens, std::size_t begin) {
  int depth = 0;
  const std::size_t most = std::min(tokens.size(), begin + kLongestDeclarator);
  for (std::size_t i = begin; i < most; ++i) {
    const Token& token = tokens[i];
    const bool opens_arguments = token.is("<") && i > begin && tokens[i - 1].is_identifier();
    if (opens_arguments) ++depth;
    if (token.is(">") && depth > 0) --depth;
    if (token.is(";") || token.is("{") || token.is("}")) return i;
    if (depth == 0 && (token.is("=") || token.is("[") || token.is(")") || token.is(","))) return i;
    if (depth == 0 && token.is("(")) {
      // alignas(64), decltype(x), __attribute__((aligned(64)))
      const bool of_specifier = i > begin && (tokens[i - 1].is("alignas") || tokens[i - 1].is("decltype") ||
                                              tokens[i - 1].is("__attribute__") || tokens[i - 1].is("__attribute") ||
                                              tokens[i - 1].is("typeof") || tokens[i - 1].is("__typeof__"));
      if (!of_specifier) return i;
      i = past_group(tokens, i) - 1;
    }
  }
  return most;
}

// Whether the variable declared by [begin, end) can never change: "constexpr int n", "const float t", "float* const p",
// and not "const float* p".
bool is_constant(const Tokens& tokens, std::size_t begin, std::size_t end, CodeKind kind) {
  bool is_const = false;
  int depth = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const Token& token = tokens[i];
    if (token.is("<")) ++depth;
    if (token.is(">") && depth > 0) --depth;
    if (depth > 0) continue;
    if (token.is("constexpr")) return true;
    // Shared memory ends with its block. Constant memory is written by host code alone, which style kernel has none of.
    if (kind != CodeKind::host && token.is("__shared__")) return true;
    if (kind == CodeKind::device_only && token.is("__constant__")) return true;
    if (token.is("mutable") || token.is("volatile")) return false;
    if (token.is("const")) is_const = true;
    if (token.is("*")) is_const = false;
  }
  return is_const;
}

// What a parenthesis behind a name holds: parameters of a function, or a variable's first value.
bool holds_parameters(const Tokens& tokens, std::size_t open) {
  static const std::set<std::string_view> types = {"void",     "bool",   "char",  "short",  "int",  "long",
                                                   "unsigned", "signed", "float", "double", "auto", "const"};
  const std::size_t close = past_group(tokens, open);
  // "int (*f)(int)": a pointer to a function.
  if (open + 1 < tokens.size() && (tokens[open + 1].is("*") || tokens[open + 1].is("&"))) return false;
  const bool body_follows =
      close < tokens.size() && !tokens[close].is(";") && !tokens[close].is(",") && !tokens[close].is(")");
  if (body_follows || close == open + 2) return true;
  for (std::size_t i = open + 1; i + 1 < close; ++i) {
    if (types.contains(tokens[i].text)) return true;
    if (tokens[i].is_identifier() && tokens[i + 1].is_identifier()) return true;
  }
  return false;
}

void report(const Tokens& tokens, std::size_t begin, std::size_t end, Findings& findings) {
  const std::string subject = spelled(tokens, begin, std::min(end, begin + kLongestDeclarator));
  const bool on_device = std::any_of(
      tokens.begin() + static_cast<std::ptrdiff_t>(begin),
      tokens.begin() + static_cast<std::ptrdiff_t>(std::min(end, begin + kLongestDeclarator)),
      [](const Token& token) { return token.is("__device__") || token.is("__managed__") || token.is("__constant__"); });
  findings.push_back({on_device ? "device-state" : "static-state", subject, tokens[begin].line,
                      "'" + (subject.size() > 100 ? subject.substr(0, 100) + "..." : subject) +
                          "': candidates may not keep values from one call to the next"});
}

// A variable with static or thread-local storage, at any depth: `begin` is the storage class.
void find_static(const Tokens& tokens, std::size_t begin, CodeKind kind, Findings& findings) {
  const std::size_t end = end_of_declarator(tokens, begin);
  const bool has_name = end >= begin + 2;
  if (end < tokens.size() && tokens[end].is("(") && has_name && holds_parameters(tokens, end)) return;
  if (!is_constant(tokens, begin, end, kind)) report(tokens, begin, end, findings);
}

bool begins_with(const Token& token, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return token.is(word); });
}

// One declaration at namespace scope, without storage class; returns the index behind it. Sets `scope` if it opens one.
std::size_t pass_declaration(const Tokens& tokens, std::size_t begin, bool& scope, CodeKind kind, Findings& findings) {
  const bool type =
      begins_with(tokens[begin], {"using", "typedef", "static_assert", "friend", "concept", "asm", "__asm__", "__asm"});
  const bool alias = tokens[begin].is("namespace");
  const bool other_rules = begins_with(tokens[begin], {"extern", "static", "thread_local"});
  bool parameters = false, value = false, body = false, is_class = false;
  std::size_t end_of_name = 0, names_behind_class = 0;
  for (std::size_t i = begin; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.is("namespace") && i <= begin + 1 && !type) is_class = false, scope = true;
    if (begins_with(token, {"struct", "class", "union", "enum"}) && !parameters && !value &&
        !(i > begin && (tokens[i - 1].is("<") || tokens[i - 1].is(","))))
      is_class = true;
    if (token.is("=") && end_of_name == 0) end_of_name = i, value = true;
    if (token.is("=")) value = true;
    if (token.is("(")) {
      const bool specifier = i > begin && begins_with(tokens[i - 1], {"alignas", "decltype", "__attribute__",
                                                                      "__attribute", "requires", "noexcept"});
      if (!specifier && !value && end_of_name == 0) {
        parameters = holds_parameters(tokens, i);
        end_of_name = i;
      }
      i = past_group(tokens, i) - 1;
    } else if (token.is("{")) {
      const bool linkage = tokens[begin].is("extern") && i == begin + 2;
      if ((scope && !value && !parameters) || linkage) {
        scope = true;
        return i + 1;
      }
      i = past_group(tokens, i) - 1;
      if (parameters && !value) return i + 1;
      if (is_class && !body && !value)
        body = true;
      else if (end_of_name == 0)
        end_of_name = i, value = true;
    } else if (token.is(";") || token.is("}")) {
      scope = false;
      if (end_of_name == 0) end_of_name = i;
      const bool only_type = is_class && !value && !parameters &&
                             (body ? names_behind_class == 0 : i <= begin + 2 || tokens[begin].is("enum"));
      const bool declares = end_of_name > begin + 1 && !type && !alias && !other_rules && !parameters && !only_type &&
                            !tokens[begin].is("template");
      if (declares && !is_constant(tokens, begin, end_of_name, kind)) report(tokens, begin, end_of_name, findings);
      return token.is("}") && i > begin ? i : i + 1;
    } else if (body && token.is_identifier()) {
      ++names_behind_class;
    }
  }
  return tokens.size();
}

}  // namespace

void find_state(const Tokens& all, CodeKind kind, Findings& findings) {
  const Tokens tokens = without_directives(all);
  for (std::size_t i = 0; i < tokens.size() && findings.size() < kMostFindings; ++i) {
    const bool storage = tokens[i].is("static") || tokens[i].is("thread_local") || tokens[i].is("__thread");
    const bool counted =
        i > 0 && begins_with(tokens[i - 1], {"static", "thread_local", "inline"}) && !tokens[i].is("static");
    if (storage && !counted) find_static(tokens, i, kind, findings);
  }
  for (std::size_t i = 0; i < tokens.size() && findings.size() < kMostFindings;) {
    if (tokens[i].is(";") || tokens[i].is("}")) {
      ++i;
      continue;
    }
    bool scope = false;
    i = pass_declaration(tokens, i, scope, kind, findings);
  }
}

}  // namespace kagent::gate
