// SPDX-License-Identifier: Apache-2.0
#include "toolchain/call_shim.h"

#include <optional>

#include "toolchain/signature.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace {

struct Call {
  std::string types, arguments;  // of the entry's declaration, and of its call
};

// A type that is passed as the entry's own is, or nothing if there is none. The toolkit's element types are classes
// around their bits, which the x86-64 and AArch64 ABIs pass like any other class of that content.
std::optional<std::string> passed_type(const Parameter& parameter, Language language) {
  const bool cuda = language == Language::cuda;
  switch (parameter.dtype) {
    case DType::float16:
      if (cuda) return "Bits<unsigned short>";
      break;
    case DType::bfloat16:
      if (cuda) return "Bits<unsigned short>";
      return std::nullopt;
    case DType::float8_e4m3:
    case DType::float8_e5m2:
      if (cuda) return "Bits<unsigned char>";
      return std::nullopt;
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
    case DType::boolean:
      break;
  }
  return std::string(type_name(parameter.dtype, language));
}

Result<Call> call_of(const std::string& mangled, const std::vector<Parameter>& parameters, Language language) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";
  if (mangled.empty() || mangled.find_first_not_of(kPlain) != mangled.npos)
    return failure("the entry's symbol '" + util::clean(mangled, 200) + "' has characters that no function name has");
  Call call;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    const std::string separator = i > 0 ? ", " : "";
    const std::string argument = "arguments[" + std::to_string(i) + "]";
    const bool is_stream = parameter.kind == ParameterKind::stream;
    if (parameter.is_buffer() || (is_stream && language == Language::cuda)) {
      call.types += separator + "void*";
      call.arguments += separator + argument;
      continue;
    }
    const auto type = passed_type(parameter, language);
    if (is_stream || !type)
      return failure("parameter '" + parameter.name + "' cannot be passed by value: it is " + described(parameter),
                     "pass it as a buffer of one element, or as float32");
    call.types += separator + *type;
    call.arguments += separator + "*static_cast<const " + *type + "*>(" + argument + ")";
  }
  return call;
}

std::string declaration(const std::string& result, const std::string& mangled, const Call& call) {
  return "extern \"C\" " + result + " kagent_entry(" + call.types + ") __asm__(\"" + mangled + "\");\n";
}

constexpr const char* kVisible = "extern \"C\" __attribute__((visibility(\"default\"))) ";

}  // namespace

Result<std::string> call_shim(const std::string& mangled, const std::vector<Parameter>& parameters) {
  const auto call = call_of(mangled, parameters, Language::cxx);
  if (!call) return std::unexpected(call.error());
  return declaration("void", mangled, *call) + kVisible + "void kagent_call(void* const* arguments) {\n  " +
         (parameters.empty() ? "(void)arguments;\n  " : "") + "kagent_entry(" + call->arguments + ");\n}\n";
}

Result<std::string> cuda_call_shim(const std::string& mangled, const std::vector<Parameter>& parameters,
                                   bool returns_status) {
  const auto call = call_of(mangled, parameters, Language::cuda);
  if (!call) return std::unexpected(call.error());
  const std::string invocation = "kagent_entry(" + call->arguments + ");\n";
  // An entry mostly returns what cudaGetLastError() told it, which is forgotten by then.
  return "template <class T> struct Bits { T value; };\nextern \"C\" int cudaGetLastError();\n" +
         declaration(returns_status ? "int" : "void", mangled, *call) + kVisible +
         "int kagent_cuda_call(void* const* arguments) {\n  (void)arguments;\n  " +
         (returns_status ? "const int status = " : "const int status = 0;\n  ") + invocation +
         "  const int last = cudaGetLastError();\n  return status != 0 ? status : last;\n}\n";
}

}  // namespace kagent::toolchain
