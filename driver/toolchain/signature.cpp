// SPDX-License-Identifier: Apache-2.0
#include "toolchain/signature.h"

#include <algorithm>
#include <array>
#include <utility>

#include "util/text.h"

namespace kagent::toolchain {

namespace {

// What C++ calls a dtype on a machine with 64-bit long: the first name is the one that is shown.
std::vector<std::string_view> type_names(DType dtype, Language language) {
  const bool cuda = language == Language::cuda;
  switch (dtype) {
    case DType::float64:
      return {"double"};
    case DType::float32:
      return {"float"};
    case DType::float16:
      if (cuda) return {"__half", "_Float16"};
      return {"_Float16", "__fp16", "half", "__half"};
    case DType::bfloat16:
      if (cuda) return {"__nv_bfloat16", "__bf16"};
      return {"__bf16", "std::bfloat16_t"};
    case DType::float8_e4m3:
      if (cuda) return {"__nv_fp8_e4m3", "unsigned char", "char"};
      return {"unsigned char", "char"};
    case DType::float8_e5m2:
      if (cuda) return {"__nv_fp8_e5m2", "unsigned char", "char"};
      return {"unsigned char", "char"};
    case DType::int8:
      return {"signed char", "char"};
    case DType::int16:
      return {"short"};
    case DType::int32:
      return {"int", "wchar_t"};
    case DType::int64:
      return {"long", "long long"};
    case DType::uint8:
      return {"unsigned char", "char", "char8_t", "std::byte"};
    case DType::uint16:
      return {"unsigned short", "char16_t"};
    case DType::uint32:
      return {"unsigned int", "char32_t"};
    case DType::uint64:
      return {"unsigned long", "unsigned long long"};
    case DType::boolean:
      return {"bool"};
  }
  return {};
}

constexpr std::array<std::string_view, 24> kBuiltinTypes = {"bool",
                                                            "char",
                                                            "signed char",
                                                            "unsigned char",
                                                            "char8_t",
                                                            "std::byte",
                                                            "short",
                                                            "unsigned short",
                                                            "char16_t",
                                                            "int",
                                                            "unsigned int",
                                                            "char32_t",
                                                            "wchar_t",
                                                            "long",
                                                            "unsigned long",
                                                            "long long",
                                                            "unsigned long long",
                                                            "__int128",
                                                            "unsigned __int128",
                                                            "float",
                                                            "double",
                                                            "long double",
                                                            "_Float16",
                                                            "__bf16"};

bool is_builtin(std::string_view type) {
  return std::ranges::find(kBuiltinTypes, type) != kBuiltinTypes.end();
}

bool is_named_for(std::string_view type, DType dtype, Language language) {
  const auto names = type_names(dtype, language);
  return std::ranges::find(names, type) != names.end();
}

// Storage types that people use for elements which C++ has no type for.
bool is_storage_for(std::string_view type, DType dtype) {
  switch (dtype) {
    case DType::float16:
    case DType::bfloat16:
      return type == "unsigned short" || type == "short" || type == "char16_t";
    case DType::boolean:
      return type == "unsigned char" || type == "char";
    case DType::float8_e4m3:
    case DType::float8_e5m2:
      return type == "signed char" || type == "std::byte";
    case DType::float64:
    case DType::float32:
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
      return false;
  }
  return false;
}

bool remove_ending(std::string& text, std::string_view ending) {
  if (!text.ends_with(ending)) return false;
  text.resize(text.size() - ending.size());
  return true;
}

std::string shown(const Parameter& parameter, Language language) {
  if (parameter.kind == ParameterKind::stream) return "cudaStream_t " + parameter.name;
  const std::string type(type_names(parameter.dtype, language).front());
  if (!parameter.is_buffer()) return type + " " + parameter.name;
  return (parameter.kind == ParameterKind::input ? "const " : "") + type + "* " + parameter.name;
}

std::string kind_of(const Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::input:
      return "an input of ";
    case ParameterKind::output:
      return "an output of ";
    case ParameterKind::inout:
      return "an inout of ";
    case ParameterKind::workspace:
      return "a workspace of ";
    case ParameterKind::size:
      return "a size of type ";
    case ParameterKind::scalar:
      return "a scalar of type ";
    case ParameterKind::stream:
      return "a stream";
  }
  return {};
}

}  // namespace

std::string described(const Parameter& parameter) {
  return kind_of(parameter) +
         (parameter.kind == ParameterKind::stream ? std::string() : std::string(name(parameter.dtype)));
}

namespace {

// Element types of the toolkit's own headers, of one dtype each.
bool is_cuda_element(std::string_view type) {
  constexpr std::array<std::string_view, 4> kTypes = {"__half", "__nv_bfloat16", "__nv_fp8_e4m3", "__nv_fp8_e5m2"};
  return std::ranges::find(kTypes, type) != kTypes.end();
}

std::string mismatch(std::string type, const Parameter& parameter, Language language) {
  std::string says =
      "'" + parameter.name + "' is " + described(parameter) + ", but the function takes '" + type + "' there";
  if (parameter.kind == ParameterKind::stream) return type == "CUstream_st*" ? "" : says;
  if (!parameter.is_buffer()) return is_named_for(type, parameter.dtype, language) ? "" : says;
  remove_ending(type, " restrict");
  if (!remove_ending(type, "*")) return says;
  const bool is_const = remove_ending(type, " const");
  remove_ending(type, " volatile");
  if (is_const && parameter.is_written()) return says + ", which cannot be written";
  // A class may wrap the element type; only what is known can be wrong.
  const bool fits =
      type == "void" || is_named_for(type, parameter.dtype, language) || is_storage_for(type, parameter.dtype);
  const bool is_pointer = type.ends_with('*') || type.ends_with('&') || type.ends_with(')');
  const bool is_known = is_builtin(type) || is_pointer || (language == Language::cuda && is_cuda_element(type));
  return !fits && is_known ? says : "";
}

// The parameter types of "name(float const*, std::pair<int, int>)", or nothing if it has no list.
std::optional<std::vector<std::string>> parameter_types(const Symbol& symbol, const std::string& entry) {
  const std::string& text = symbol.demangled;
  if (!text.starts_with(entry + "(") || !text.ends_with(')')) return std::nullopt;
  return split_types(std::string_view(text).substr(entry.size() + 1, text.size() - entry.size() - 2));
}

std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMost; ++i)
    text += (i > 0 ? ", '" : "'") + util::clean(names[i], 200) + "'";
  return names.size() > kMost ? text + ", ..." : text;
}

std::string explain_absence(const std::vector<Symbol>& symbols, const std::string& entry) {
  std::vector<std::string> same_name, functions, names;
  for (const Symbol& symbol : symbols) {
    const std::string name = last_name(symbol.demangled);
    if (symbol.kind == 't' && (symbol.demangled.starts_with(entry + "(") || symbol.demangled == entry))
      return "the entry '" + entry + "' is static: no other file can call it";
    // What the compiler split off is no function of the source: "scale(int) [clone .cold]".
    if (symbol.demangled.ends_with(']')) continue;
    if (name == last_name(entry) && std::string_view("TtWi").find(symbol.kind) != std::string_view::npos)
      same_name.push_back(symbol.demangled);
    if (!symbol.is_function()) continue;
    functions.push_back(symbol.demangled);
    names.push_back(name);
  }
  const std::string problem = "the source defines no function '" + entry + "'";
  if (!same_name.empty()) return problem + " (a template, or in another namespace?); it has " + list(same_name);
  if (const std::string near = util::nearest(last_name(entry), names); !near.empty())
    return problem + "; did you mean '" + near + "'?";
  return functions.empty() ? problem + ", nor any other that other files can call"
                           : problem + "; it has " + list(functions);
}

}  // namespace

std::string_view type_name(DType dtype, Language language) {
  return type_names(dtype, language).front();
}

std::string signature_mismatch(const std::vector<std::string>& types, const std::vector<Parameter>& parameters,
                               Language language) {
  if (types.size() != parameters.size())
    return "the function takes " + std::to_string(types.size()) + " parameters, kernel.json lists " +
           std::to_string(parameters.size());
  for (std::size_t i = 0; i < types.size(); ++i)
    if (std::string problem = mismatch(types[i], parameters[i], language); !problem.empty())
      return "parameter " + std::to_string(i + 1) + ": " + problem;
  return {};
}

std::string expected_signature(const std::string& entry, const std::vector<Parameter>& parameters, Language language) {
  std::string text = entry + "(";
  for (std::size_t i = 0; i < parameters.size(); ++i) text += (i > 0 ? ", " : "") + shown(parameters[i], language);
  return text + ")";
}

std::vector<std::string> split_types(std::string_view list) {
  std::vector<std::string> types;
  std::string type;
  int depth = 0;
  for (const char c : list) {
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (c == ' ' && type.empty()) continue;
    if (c == ',' && depth == 0)
      types.push_back(std::exchange(type, {}));
    else
      type += c;
  }
  if (!type.empty()) types.push_back(type);
  return types;
}

EntryLookup find_entry(const std::vector<Symbol>& symbols, const std::string& entry,
                       const std::vector<Parameter>& parameters, Language language) {
  std::vector<const Symbol*> found;
  std::vector<std::string> shown_overloads, problems;
  for (const Symbol& symbol : symbols) {
    if (!symbol.is_function()) continue;
    if (symbol.mangled == entry || (!symbol.mangled.starts_with("_Z") && symbol.mangled == last_name(entry))) {
      // extern "C": without a namespace in its name, and without types.
      found.push_back(&symbol);
      shown_overloads.push_back(symbol.demangled);
      continue;
    }
    const auto types = parameter_types(symbol, entry);
    if (!types) continue;
    shown_overloads.push_back(symbol.demangled);
    std::string problem = signature_mismatch(*types, parameters, language);
    if (problem.empty())
      found.push_back(&symbol);
    else
      problems.push_back(std::move(problem));
  }
  if (found.size() == 1) return {*found.front(), {}};
  const std::string expected = "; kernel.json asks for '" + expected_signature(entry, parameters, language) + "'";
  if (found.size() > 1) return {std::nullopt, "several functions fit the entry: " + list(shown_overloads) + expected};
  if (problems.size() == 1)
    return {std::nullopt, problems.front() + ": the source has " + list(shown_overloads) + expected};
  if (problems.size() > 1)
    return {std::nullopt, "no overload fits the entry: the source has " + list(shown_overloads) + expected};
  return {std::nullopt, explain_absence(symbols, entry)};
}

}  // namespace kagent::toolchain
