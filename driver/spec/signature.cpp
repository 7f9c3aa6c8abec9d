// SPDX-License-Identifier: Apache-2.0
#include "spec/signature.h"

#include <algorithm>
#include <map>

#include "spec/declarations.h"
#include "spec/reader.h"
#include "util/text.h"

namespace kagent::spec {
namespace {

using Tokens = std::vector<Token>;
using Aliases = std::map<std::string, Tokens>;

// Types of a machine with 64-bit long, as names without "std::".
std::optional<DType> named_dtype(const std::string& name) {
  static const std::map<std::string, DType> kTypes{{"float", DType::float32},
                                                   {"double", DType::float64},
                                                   {"_Float16", DType::float16},
                                                   {"__fp16", DType::float16},
                                                   {"half", DType::float16},
                                                   {"__half", DType::float16},
                                                   {"float16_t", DType::float16},
                                                   {"float32_t", DType::float32},
                                                   {"float64_t", DType::float64},
                                                   {"__bf16", DType::bfloat16},
                                                   {"bfloat16_t", DType::bfloat16},
                                                   {"__nv_bfloat16", DType::bfloat16},
                                                   {"nv_bfloat16", DType::bfloat16},
                                                   {"__nv_fp8_e4m3", DType::float8_e4m3},
                                                   {"__nv_fp8_e5m2", DType::float8_e5m2},
                                                   {"bool", DType::boolean},
                                                   {"byte", DType::uint8},
                                                   {"char8_t", DType::uint8},
                                                   {"char16_t", DType::uint16},
                                                   {"char32_t", DType::uint32},
                                                   {"int8_t", DType::int8},
                                                   {"int16_t", DType::int16},
                                                   {"int32_t", DType::int32},
                                                   {"int64_t", DType::int64},
                                                   {"uint8_t", DType::uint8},
                                                   {"uint16_t", DType::uint16},
                                                   {"uint32_t", DType::uint32},
                                                   {"uint64_t", DType::uint64},
                                                   {"size_t", DType::uint64},
                                                   {"ptrdiff_t", DType::int64},
                                                   {"ssize_t", DType::int64},
                                                   {"intptr_t", DType::int64},
                                                   {"uintptr_t", DType::uint64},
                                                   {"uint", DType::uint32},
                                                   {"ushort", DType::uint16},
                                                   {"uchar", DType::uint8}};
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

bool is_integer_word(const Token& token) {
  return token.is("int") || token.is("unsigned") || token.is("signed") || token.is("short") || token.is("long") ||
         token.is("char") || token.is("__int64");
}

// "unsigned long int" in any order.
DType integer_dtype(const Tokens& words) {
  const auto count = [&words](std::string_view word) {
    return std::count_if(words.begin(), words.end(), [word](const Token& token) { return token.is(word); });
  };
  const bool is_unsigned = count("unsigned") > 0;
  if (count("char") > 0) return is_unsigned ? DType::uint8 : DType::int8;
  if (count("short") > 0) return is_unsigned ? DType::uint16 : DType::int16;
  if (count("long") > 0) return is_unsigned ? DType::uint64 : DType::int64;
  return is_unsigned ? DType::uint32 : DType::int32;
}

// float4, uchar2, half2, __nv_bfloat162, ...: built into CUDA.
bool is_vector_type(std::string_view name) {
  static constexpr std::string_view kElements[] = {
      "char",  "uchar",  "short",    "ushort",    "int",  "uint",   "long",        "ulong",
      "float", "double", "longlong", "ulonglong", "half", "__half", "nv_bfloat16", "__nv_bfloat16"};
  if (name.empty() || name.back() < '1' || name.back() > '4') return false;
  name.remove_suffix(1);
  return std::find(std::begin(kElements), std::end(kElements), name) != std::end(kElements);
}

bool is_restrict(const Token& token) {
  return token.is("restrict") || token.is("__restrict__") || token.is("__restrict");
}

std::string joined(const Tokens& tokens) {
  std::string text;
  for (const Token& token : tokens) {
    const bool word = token.is_identifier() || token.kind == Token::Kind::number;
    const char last = text.empty() ? ' ' : text.back();
    const bool after_word = std::isalnum(static_cast<unsigned char>(last)) != 0 || last == '_';
    if (word && (after_word || last == '*' || last == '&' || last == '>')) text += ' ';
    text += token.text;
  }
  return text;
}

std::vector<Tokens> split(const Tokens& tokens) {
  std::vector<Tokens> parts(1);
  int depth = 0;
  bool in_default = false;
  for (const Token& token : tokens) {
    if (token.is("(") || token.is("[") || token.is("{") || (token.is("<") && !in_default)) ++depth;
    if (token.is(")") || token.is("]") || token.is("}") || (token.is(">") && !in_default)) --depth;
    if (token.is(",") && depth == 0) {
      parts.emplace_back();
      in_default = false;
      continue;
    }
    if (token.is("=") && depth == 0) in_default = true;
    if (!in_default) parts.back().push_back(token);
  }
  if (parts.size() == 1 && (parts[0].empty() || (parts[0].size() == 1 && parts[0][0].is("void")))) parts.clear();
  return parts;
}

class ParameterReader {
 public:
  ParameterReader(const Aliases& aliases, int number) : aliases_(aliases), number_(number) {}

  Result<SignatureParameter> read(Tokens tokens) {
    take_array(tokens);
    take_name(tokens);
    parameter_.type = joined(tokens) + (array_ ? "*" : "");
    Tokens type;
    for (const Token& token : tokens)
      if (!is_restrict(token)) type.push_back(token);
    if (auto understood = read_type(type, 0); !understood) return std::unexpected(understood.error());
    if (is_cpp_keyword(parameter_.name)) return refuse("has no usable name", "name the parameters");
    return parameter_;
  }

 private:
  std::unexpected<StageError> refuse(const std::string& problem, const std::string& fix) const {
    return failure("parameter " + std::to_string(number_) + " ('" + util::clean(parameter_.type, 80) + " " +
                       util::clean(parameter_.name, 80) + "') " + problem,
                   fix);
  }

  // float x[] and float x[16] are pointers.
  void take_array(Tokens& tokens) {
    const auto open = std::find_if(tokens.begin(), tokens.end(), [](const Token& token) { return token.is("["); });
    array_ = open != tokens.end();
    tokens.erase(open, tokens.end());
  }

  void take_name(Tokens& tokens) {
    parameter_.name = "argument" + std::to_string(number_);
    if (tokens.size() < 2 || !tokens.back().is_identifier()) return;
    const Token& before = tokens[tokens.size() - 2];
    const Token& last = tokens.back();
    const bool part_of_type = before.is("::") || is_integer_word(last) || is_restrict(last) || last.is("const") ||
                              last.is("volatile") || named_dtype(last.text);
    const bool type_complete = std::any_of(tokens.begin(), tokens.end() - 1, [](const Token& token) {
      return token.is_identifier() && !token.is("const") && !token.is("volatile") && !token.is("struct");
    });
    if (part_of_type || !type_complete) return;
    parameter_.name = last.text;
    tokens.pop_back();
  }

  Result<void> read_type(const Tokens& type, int depth) {
    Tokens words;
    const int first = array_ && depth == 0 ? 1 : 0;
    int pointers = first;
    bool is_const = false;
    for (const Token& token : type) {
      if (token.is("&"))
        return refuse("is a reference",
                      "take a pointer, or a number by value: other languages and processes call it so");
      if (token.is("<")) return refuse("is of a class template", "take a pointer to its elements and their number");
      if (token.is("__grid_constant__")) continue;
      if (token.is("*"))
        ++pointers;
      else if (token.is("const"))
        is_const = is_const || pointers == first;
      else if (token.is_identifier() && !token.is("std") && !token.is("volatile") && !token.is("struct"))
        words.push_back(token);
      else if (!token.is_identifier() && !token.is("::"))
        return refuse("is not understood", "take pointers and numbers");
    }
    return take_words(words, pointers, is_const, depth);
  }

  Result<void> take_words(const Tokens& words, int pointers, bool is_const, int depth) {
    parameter_.is_pointer = parameter_.is_pointer || pointers > 0;
    parameter_.is_const = parameter_.is_const || is_const;
    if (pointers > 1) return refuse("is a pointer to pointers", "take one pointer to contiguous elements");
    if (words.empty()) return refuse("has no type", "declare it in full");
    if (words.back().is("cudaStream_t") || words.back().is("CUstream")) {
      parameter_.is_stream = true;
      return {};
    }
    if (std::all_of(words.begin(), words.end(), is_integer_word)) {
      parameter_.dtype = integer_dtype(words);
      return {};
    }
    if (words.size() == 1 && words[0].is("void") && parameter_.is_pointer) return {};
    if (const auto dtype = named_dtype(words.back().text); dtype && words.size() == 1) {
      parameter_.dtype = dtype;
      return {};
    }
    if (words.size() == 1 && is_vector_type(words[0].text))
      return refuse(
          "is of a vector type",
          "take a pointer to its elements and convert it inside; say in kernel.json which \"alignment\" it needs");
    const auto alias = aliases_.find(words.back().text);
    constexpr int kMaxAliases = 8;  // of aliases; they may be circular in text that does not compile
    if (alias != aliases_.end() && depth < kMaxAliases) return read_type(alias->second, depth + 1);
    return refuse("has a type that is no dtype",
                  "take a pointer to, or a value of, float, double, an integer type or bool");
  }

  const Aliases& aliases_;
  int number_;
  bool array_ = false;
  SignatureParameter parameter_;
};

bool ends_with_name(const std::string& qualified, std::string_view entry) {
  return qualified == entry || qualified.ends_with("::" + std::string(entry));
}

std::string list(const std::vector<const FunctionDeclaration*>& functions) {
  std::string text;
  for (const FunctionDeclaration* function : functions)
    text += (text.empty() ? "" : ", ") + util::clean(function->name, 100) + " (line " + std::to_string(function->line) +
            ")";
  return text;
}

Result<const FunctionDeclaration*> choose(const Declarations& declarations, std::string_view entry) {
  std::vector<const FunctionDeclaration*> found;
  std::vector<std::string> names;
  for (const FunctionDeclaration& function : declarations.functions) {
    names.push_back(function.name.substr(function.name.rfind(':') + 1));
    if (ends_with_name(function.name, entry)) found.push_back(&function);
  }
  if (found.empty()) {
    const std::string last(entry.substr(entry.rfind(':') + 1));
    const std::string problem = "the source declares no function '" + util::clean(entry, 100) + "'";
    // In another namespace, or in an inline one that its callers do not name.
    for (const FunctionDeclaration& function : declarations.functions)
      if (function.name.ends_with("::" + last))
        return failure(problem, "did you mean '" + util::clean(function.name, 100) + "'?");
    return failure(problem, util::suggest(last, names, "function"));
  }
  const auto defined = [](const FunctionDeclaration* function) { return function->is_definition; };
  if (std::any_of(found.begin(), found.end(), defined))
    std::erase_if(found, [&](auto* function) { return !defined(function); });
  const bool exact = std::any_of(found.begin(), found.end(), [&](auto* function) { return function->name == entry; });
  if (exact) std::erase_if(found, [&](auto* function) { return function->name != entry; });
  if (found.size() > 1)
    return failure("'" + util::clean(entry, 100) + "' is ambiguous: " + list(found),
                   "give the namespaces, or rename all overloads but one");
  return found.front();
}

// "class T, int N = 4": names, and which of them are types.
std::vector<TemplateParameter> template_parameters(const FunctionDeclaration& function) {
  std::vector<TemplateParameter> parameters;
  Tokens current;
  int depth = 0;
  const auto finish = [&] {
    const auto equals = std::find_if(current.begin(), current.end(), [](const Token& token) { return token.is("="); });
    const auto name = std::find_if(std::make_reverse_iterator(equals), current.rend(),
                                   [](const Token& token) { return token.is_identifier(); });
    TemplateParameter parameter;
    if (name != current.rend()) parameter.name = name->text;
    if (!current.empty()) parameter.is_type = current[0].is("class") || current[0].is("typename");
    if (equals != current.end()) parameter.preset = joined(Tokens(equals + 1, current.end()));
    parameters.push_back(std::move(parameter));
    current.clear();
  };
  for (const Token& token : function.template_parameters) {
    if (token.is("(") || token.is("<") || token.is("{")) ++depth;
    if (token.is(")") || token.is(">") || token.is("}")) --depth;
    if (token.is(",") && depth == 0)
      finish();
    else
      current.push_back(token);
  }
  if (!current.empty()) finish();
  return parameters;
}

Result<void> check_result(const FunctionDeclaration& function) {
  Tokens type;
  for (const Token& token : function.before)
    if (!token.is("inline") && !token.is("extern") && !token.is("constexpr") && !token.is("__host__") &&
        !token.is("__global__") && token.kind != Token::Kind::literal)
      type.push_back(token);
  const auto device = [](const Token& token) { return token.is("__device__"); };
  if (std::any_of(type.begin(), type.end(), device))
    return failure("'" + function.name + "' is a __device__ function", "name the __global__ function that calls it");
  const bool trailing = !function.after.empty() && function.after[0].is("->");
  const Token* result = type.empty() ? nullptr : &type.back();
  if (!trailing && result != nullptr && (result->is("void") || result->is("cudaError_t"))) return {};
  return failure("'" + util::clean(function.name, 100) + "' returns '" +
                     util::clean(joined(trailing ? function.after : type), 80) + "'",
                 "return void and write the result through a pointer");
}

}  // namespace

Result<Signature> find_signature(std::string_view source, std::string_view entry) {
  const Declarations declarations = find_declarations(tokenize(source));
  const auto chosen = choose(declarations, entry);
  if (!chosen) return std::unexpected(chosen.error());
  const FunctionDeclaration& function = **chosen;
  const bool is_kernel = std::any_of(function.before.begin(), function.before.end(),
                                     [](const Token& token) { return token.is("__global__"); });
  if (function.is_template && !is_kernel)
    return failure("'" + function.name + "' is a template", "name a function that calls it with one type");
  if (function.is_local)
    return failure(
        "'" + function.name + "' is static or in a namespace without a name, so that no other file can call it",
        "make it visible");
  if (auto result = check_result(function); !result) return std::unexpected(result.error());

  Signature signature{function.name, function.line, {}, is_kernel, template_parameters(function)};
  Aliases aliases = declarations.aliases;
  for (const TemplateParameter& parameter : signature.template_parameters)
    if (parameter.is_type) aliases[parameter.name] = {Token{Token::Kind::identifier, "float", function.line}};
  int number = 0;
  for (const Tokens& tokens : split(function.parameters)) {
    ParameterReader reader(aliases, ++number);
    auto parameter = reader.read(tokens);
    if (!parameter) return failure("'" + function.name + "': " + parameter.error().message, parameter.error().fix);
    for (const SignatureParameter& known : signature.parameters)
      if (known.name == parameter->name) return failure("two parameters are named '" + known.name + "'", "rename one");
    signature.parameters.push_back(std::move(*parameter));
  }
  return signature;
}

}  // namespace kagent::spec
