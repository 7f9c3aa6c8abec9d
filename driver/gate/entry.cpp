// SPDX-License-Identifier: Apache-2.0
#include "gate/entry.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace kagent::gate {

namespace {

constexpr std::array<std::string_view, 6> kSpecifiers = {"static",    "inline",   "constexpr",
                                                         "consteval", "template", "extern"};

struct Definition {
  int line = 0;
  std::string result;                   // "void": the type's tokens
  std::vector<std::string> specifiers;  // those of kSpecifiers, in order
  std::vector<std::string> parameters;  // types without names, restrict and layout
};

// Parameters of CUDA functions; those of host code are compared by their symbols.
std::vector<std::string> read_parameters(const Tokens& tokens, std::size_t open) {
  std::vector<std::string> parameters;
  Tokens current;
  const std::size_t close = past_group(tokens, open) - 1;
  const auto finish = [&] {
    // "const int n" is an int to its callers.
    const bool by_value =
        std::ranges::none_of(current, [](const Token& token) { return token.is("*") || token.is("&"); });
    if (by_value) std::erase_if(current, [](const Token& token) { return token.is("const"); });
    // The name stands last, and is not alone.
    if (current.size() > 1 && current.back().is_identifier()) current.pop_back();
    if (!current.empty()) parameters.push_back(spelled(current, 0, current.size()));
    current.clear();
  };
  int depth = 0;
  for (std::size_t i = open + 1; i < close; ++i) {
    const Token& token = tokens[i];
    if (token.is("<") || token.is("(")) ++depth;
    if (token.is(">") || token.is(")")) --depth;
    const bool const_pointer = token.is("const") && i > open + 1 && tokens[i - 1].is("*");
    const bool says_nothing = token.is("__restrict__") || token.is("__restrict") || token.is("__grid_constant__");
    if (const_pointer || says_nothing) continue;
    if (token.is(",") && depth == 0)
      finish();
    else
      current.push_back(token);
  }
  finish();
  return parameters;
}

// Tokens that say how a kernel is to be built, with their list: "__launch_bounds__(256)".
bool is_kernel_attribute(const Token& token) {
  return token.is("__launch_bounds__") || token.is("__cluster_dims__") || token.is("__maxnreg__") ||
         token.is("__block_size__");
}

std::size_t past_angles(const Tokens& tokens, std::size_t open, std::size_t end) {
  int depth = 0;
  for (std::size_t i = open; i < end; ++i) {
    if (tokens[i].is("<")) ++depth;
    if (tokens[i].is(">") && --depth == 0) return i + 1;
  }
  return end;
}

bool is_specifier(const Token& token) {
  return std::ranges::find(kSpecifiers, token.text) != kSpecifiers.end();
}

// What stands in front of the entry's name, up to the declaration before.
Definition read_definition(const Tokens& tokens, std::size_t name) {
  std::size_t begin = name;
  while (begin > 0 && !tokens[begin - 1].is(";") && !tokens[begin - 1].is("}") && !tokens[begin - 1].is("{")) --begin;
  // "ns::" in front of the name.
  std::size_t end = name;
  while (end >= begin + 2 && tokens[end - 1].is("::") && tokens[end - 2].is_identifier()) end -= 2;
  Definition definition{tokens[name].line, {}, {}, read_parameters(tokens, name + 1)};
  for (std::size_t i = begin; i < end; ++i) {
    const bool attribute = tokens[i].is("__attribute__") || tokens[i].is("__attribute") || tokens[i].is("alignas") ||
                           is_kernel_attribute(tokens[i]);
    if (tokens[i].is("template") && i + 1 < end && tokens[i + 1].is("<")) {
      definition.specifiers.emplace_back("template");
      i = past_angles(tokens, i + 1, end) - 1;
    } else if (attribute && i + 1 < end && tokens[i + 1].is("("))
      i = past_group(tokens, i + 1) - 1;
    else if (tokens[i].is("["))
      i = past_group(tokens, i) - 1;
    else if (is_specifier(tokens[i]))
      definition.specifiers.push_back(tokens[i].text);
    else if (tokens[i].kind != TokenKind::string)
      definition.result += (definition.result.empty() ? "" : " ") + tokens[i].text;
  }
  return definition;
}

std::optional<Definition> find_definition(const Tokens& tokens, const std::string& entry) {
  const std::size_t colon = entry.rfind("::");
  const std::string name = colon == entry.npos ? entry : entry.substr(colon + 2);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].is_identifier() || tokens[i].text != name || !tokens[i + 1].is("(")) continue;
    std::size_t behind = past_group(tokens, i + 1);
    while (behind < tokens.size() && (tokens[behind].is("noexcept") || tokens[behind].is("try"))) {
      ++behind;
      if (behind < tokens.size() && tokens[behind].is("(")) behind = past_group(tokens, behind);
    }
    if (behind < tokens.size() && tokens[behind].is("[")) behind = past_group(tokens, behind);
    const bool call = i > 0 && (tokens[i - 1].is("=") || tokens[i - 1].is("(") || tokens[i - 1].is("return"));
    if (!call && behind < tokens.size() && tokens[behind].is("{")) return read_definition(tokens, i);
  }
  return std::nullopt;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

bool mentions(const Tokens& tokens, std::size_t begin, std::size_t end, std::string_view name) {
  return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                     tokens.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](const Token& token) { return token.is(name); });
}

// Whether a conditional's first line holds only where `name` is not defined.
bool excludes(const Tokens& tokens, std::size_t begin, std::size_t end, std::string_view name) {
  const bool negated = tokens[begin].is("ifndef") || (tokens[begin].is("if") && mentions(tokens, begin, end, "!") &&
                                                      mentions(tokens, begin, end, "defined"));
  return negated && mentions(tokens, begin, end, name);
}

}  // namespace

std::vector<Rejection> inspect_entry(const Tokens& candidate, const Tokens& parent, const std::string& entry,
                                     CodeKind kind, bool has_instance) {
  const auto wanted = find_definition(without_directives(parent), entry);
  if (!wanted) return {};
  for (std::size_t i = 0; i < candidate.size(); ++i)
    if (begins_directive(candidate, i) && i + 2 < candidate.size() &&
        (candidate[i + 1].is("define") || candidate[i + 1].is("undef")) &&
        (entry == candidate[i + 2].text || entry.ends_with("::" + candidate[i + 2].text)))
      return {{"entry-changed", candidate[i].line, "the entry '" + entry + "' may not be a macro"}};
  const auto found = find_definition(without_directives(candidate), entry);
  if (!found) return {{"entry-missing", 0, "the source no longer defines '" + entry + "'"}};
  if (found->result != wanted->result)
    return {{"entry-changed", found->line,
             "'" + entry + "' returns '" + found->result + "', but its callers expect '" + wanted->result + "'"}};
  for (const std::string& specifier : found->specifiers)
    if (std::ranges::find(wanted->specifiers, specifier) == wanted->specifiers.end() &&
        !(specifier == "template" && kind == CodeKind::device_only && has_instance))
      return {{"entry-changed", found->line, "'" + entry + "' may not become '" + joined(found->specifiers) + "...'"}};
  if (kind == CodeKind::device_only && found->parameters != wanted->parameters)
    return {{"entry-changed", found->line,
             "'" + entry + "' takes other parameters than before: its launch passes those of kernel.json"}};
  return {};
}

std::vector<Rejection> inspect_tunables(const Tokens& candidate, const TunableValues& tunables) {
  std::vector<Rejection> rejections;
  if (tunables.empty()) return rejections;
  std::vector<std::pair<std::size_t, std::size_t>> open;  // conditionals around the current line
  for (std::size_t i = 0; i + 1 < candidate.size(); ++i) {
    if (!begins_directive(candidate, i)) continue;
    const std::size_t end = end_of_line(candidate, i);
    const std::string& word = candidate[i + 1].text;
    if (word.starts_with("if")) open.emplace_back(i + 1, end);
    if (word == "endif" && !open.empty()) open.pop_back();
    if ((word != "define" && word != "undef") || i + 2 >= end) continue;
    const std::string& name = candidate[i + 2].text;
    const bool guarded = std::ranges::any_of(
        open, [&](const auto& lines) { return excludes(candidate, lines.first, lines.second, name); });
    if (tunables.contains(name) && !guarded)
      rejections.push_back({"tunable-overridden", candidate[i].line,
                            "#" + word + " " + name + " replaces the value that is tuned; write '#ifndef " + name +
                                "' in front and '#endif' behind"});
  }
  return rejections;
}

}  // namespace kagent::gate
