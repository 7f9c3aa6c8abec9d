// SPDX-License-Identifier: Apache-2.0
#include "build_step/launcher_source.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "build_step/launcher_prelude.h"

namespace kagent::build_step {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

// What sizes, tunables and parameters are called in the launcher: neither a macro of the kernel's source nor a name of
// the launcher's own ("kagent_value") can meet them.
constexpr std::string_view kGiven = "kagent_given_";

std::string given(const std::string& name) {
  return std::string(kGiven) + name;
}

// The expression over KagentExact.
std::string exact(const Expression& expression) {
  std::string text = expression.to_cpp();
  for (const std::string& name : expression.names())
    replace_all(text, "static_cast<std::int64_t>(" + name + ")", "kagent_exact(" + given(name) + ")");
  replace_all(text, "std::int64_t", "KagentExact");
  return "kagent_value(" + text + ")";
}

std::string type_name(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return "double";
    case DType::float32:
      return "float";
    case DType::float16:
      return "__half";
    case DType::bfloat16:
      return "__nv_bfloat16";
    case DType::float8_e4m3:
      return "__nv_fp8_e4m3";
    case DType::float8_e5m2:
      return "__nv_fp8_e5m2";
    case DType::boolean:
      return "bool";
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
      break;
  }
  return "std::" + std::string(name(dtype)) + "_t";
}

std::string includes(const KernelSpec& spec) {
  std::set<std::string> headers = {"cuda_runtime.h"};
  for (const Parameter& parameter : spec.parameters) {
    if (parameter.dtype == DType::float16) headers.insert("cuda_fp16.h");
    if (parameter.dtype == DType::bfloat16) headers.insert("cuda_bf16.h");
    if (parameter.dtype == DType::float8_e4m3 || parameter.dtype == DType::float8_e5m2) headers.insert("cuda_fp8.h");
  }
  std::string text;
  for (const std::string& header : headers) text += "#include <" + header + ">\n";
  return text;
}

// A path as a string literal.
std::string quoted(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  return literal + '"';
}

std::string namespace_of(const KernelSpec& spec) {
  const std::size_t colon = spec.entry.rfind("::");
  return colon == std::string::npos ? "" : spec.entry.substr(0, colon);
}

// "softmax_launch", of characters that a C++ name has.
std::string plain_name(const KernelSpec& spec) {
  std::string name = spec.kernel;
  std::ranges::replace(name, '-', '_');
  if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) name.insert(0, "kernel_");
  return name + "_launch";
}

// What callers give for a parameter: "const float*".
std::string given_type(const Parameter& parameter) {
  return (parameter.kind == ParameterKind::input ? "const " : "") + type_name(parameter.dtype) +
         (parameter.is_buffer() ? "*" : "");
}

std::string parameter_list(const KernelSpec& spec, std::string_view prefix) {
  std::string text = "cudaStream_t " + (prefix.empty() ? std::string("stream") : "on_kagent_stream");
  for (const Parameter& parameter : spec.parameters) {
    text += ", " + given_type(parameter) + " " + std::string(prefix) + parameter.name;
  }
  return text;
}

// Other files call it, so it is seen outside of a shared library whose own functions are hidden.
constexpr std::string_view kSeen = "__attribute__((__visibility__(\"default\"))) ";

std::string declaration(const KernelSpec& spec) {
  // A parameter of the spec may be called "stream" too; names in a declaration mean nothing.
  std::string list = parameter_list(spec, "");
  if (spec.find_parameter("stream") != nullptr) list.replace(0, list.find(','), "cudaStream_t");
  return std::string(kSeen) + "cudaError_t " + plain_name(spec) + "(" + list + ");\n";
}

std::string extents_comment(const KernelSpec& spec) {
  std::string text;
  for (const Parameter& parameter : spec.parameters) {
    if (!parameter.is_buffer()) continue;
    std::string extents;
    for (const Expression& extent : parameter.shape) extents += (extents.empty() ? "" : ", ") + extent.text();
    std::replace_if(
        extents.begin(), extents.end(), [](char c) { return c == '\n' || c == '\r' || c == '\\'; }, ' ');
    text += "//   " + parameter.name + ": " + std::string(name(parameter.dtype)) + " [" + extents + "], ";
    switch (parameter.kind) {
      case ParameterKind::output:
        text += "written";
        break;
      case ParameterKind::inout:
        text += "read and written";
        break;
      case ParameterKind::workspace:
        text += "scratch memory";
        break;
      default:
        text += parameter.constant_memory ? "read, copied to constant memory on the stream" : "read";
    }
    if (parameter.alignment_bytes > 0) text += ", aligned to " + std::to_string(parameter.alignment_bytes) + " bytes";
    text += "\n";
  }
  return text;
}

// The namespaces around what is declared; one by one, for projects of C++14.
std::string opened(const std::string& space) {
  if (space.empty()) return {};
  std::string text = "namespace " + space + " {\n";
  replace_all(text, "::", " { namespace ");
  return text;
}
std::string closed(const std::string& space) {
  if (space.empty()) return {};
  std::string braces = "}";
  for (std::size_t at = 0; (at = space.find("::", at)) != std::string::npos; at += 2) braces += "}";
  return braces + "  // namespace " + space + "\n";
}

std::string constants_code(const KernelSpec& spec) {
  std::string text;
  for (const Parameter& parameter : spec.parameters) {
    if (!parameter.constant_memory) continue;
    std::int64_t elements = 1;  // the shape is of numbers (spec/)
    for (const Expression& extent : parameter.shape) elements *= extent.evaluate({}).value_or(0);
    text += fmt::format(R"(  static_assert(decltype(kagent_holds<{1}>({0}))::value,
                "{0} holds another type than kernel.json copies to it, {2} of {1}");
  static_assert(sizeof({0}) >= sizeof({1}) * {2},
                "{0} holds less than kernel.json copies to it, {2} of {1}");
  kagent_error = cudaMemcpyToSymbolAsync({0}, {3}, sizeof({1}) * {2}, 0, cudaMemcpyDeviceToDevice, on_kagent_stream);
  if (kagent_error != cudaSuccess) return kagent_error;
)",
                        parameter.name, type_name(parameter.dtype), elements, given(parameter.name));
  }
  return text;
}

std::string geometry_code(const KernelSpec& spec, const Launch& launch) {
  std::string text;
  for (const std::string& name : names_of(launch))
    if (spec.find_parameter(name) == nullptr) text += "  constexpr std::int64_t " + given(name) + " = " + name + ";\n";
  text += "  kagent_begin_geometry();\n  const KagentGeometry kagent_geometry = {{";
  for (std::size_t i = 0; i < 6; ++i) text += (i > 0 ? ", " : "") + exact(i < 3 ? launch.grid[i] : launch.block[i - 3]);
  text += "}, " + (launch.shared_memory ? exact(*launch.shared_memory) : "0") + ", {";
  for (std::size_t i = 0; i < 3; ++i)
    text += (i > 0 ? ", " : "") + (launch.cluster ? exact((*launch.cluster)[i]) : std::string("1"));
  return text + "}};\n";
}

// One assertion for each parameter, so that a message names the one that is meant.
std::string assertions(const KernelSpec& spec) {
  std::string list;
  int count = 0;
  for (const Parameter& parameter : spec.parameters) {
    if (parameter.constant_memory) continue;
    list += fmt::format(R"(  static_assert(KagentTaken<KagentKernel>::kIsLike<{0}, {2}>,
                "parameter {1} of {3} is of another type than '{4}' of kernel.json, {2}");
)",
                        count, count + 1, given_type(parameter), spec.entry, parameter.name);
    ++count;
  }
  return fmt::format(R"(  static_assert(KagentTaken<KagentKernel>::kAreAsMany<{0}>,
                "{1} takes another number of parameters than kernel.json lists outside of constant memory, {0}");
)",
                     count, spec.entry) +
         list;
}

// What the kernel is called with: a pointer as the kernel names its type.
std::string arguments(const KernelSpec& spec) {
  std::string list;
  int index = 0;
  for (const Parameter& parameter : spec.parameters) {
    if (parameter.constant_memory) continue;
    const std::string argument = given(parameter.name);
    list +=
        ", " + (parameter.is_buffer() ? fmt::format("reinterpret_cast<KagentTaken<KagentKernel>::Passed<{}, {}>>({})",
                                                    index, given_type(parameter), argument)
                                      : argument);
    ++index;
  }
  return list;
}

std::string body(const KernelSpec& spec, const Launch& launch) {
  const std::string& kernel = launch.instance.empty() ? spec.entry : launch.instance;
  std::string text = geometry_code(spec, launch);
  text +=
      "  if (!kagent_is_possible(kagent_geometry)) return cudaErrorInvalidConfiguration;\n"
      "  if (kagent_is_empty(kagent_geometry)) return cudaSuccess;\n"
      "  // The \"entry\" of kernel.json or, of a template, what \"instantiate\" in its \"launch\" names.\n"
      "  using KagentKernel = decltype(&" +
      kernel + ");\n" + assertions(spec) + "  const KagentKernel kagent_kernel = &" + kernel + ";\n" +
      "  cudaLaunchConfig_t kagent_configuration = kagent_configure(kagent_geometry, on_kagent_stream);\n"
      "  cudaError_t kagent_error = cudaSuccess;\n";
  const std::string stop = "  if (kagent_error != cudaSuccess) return kagent_error;\n";
  if (launch.shared_memory) text += "  kagent_error = kagent_raise_shared(kagent_kernel, kagent_geometry);\n" + stop;
  if (launch.cluster)
    text +=
        "  cudaLaunchAttribute kagent_attribute{};\n"
        "  kagent_error = kagent_set_cluster(kagent_kernel, kagent_geometry, kagent_attribute, "
        "kagent_configuration);\n" +
        stop;
  text += constants_code(spec) + "  kagent_error = cudaLaunchKernelEx(&kagent_configuration, kagent_kernel" +
          arguments(spec);
  // What is left over from a launch that failed is taken with it, as after <<<>>>.
  return text +
         ");\n  const cudaError_t kagent_last = cudaGetLastError();\n"
         "  return kagent_error != cudaSuccess ? kagent_error : kagent_last;\n";
}

}  // namespace

std::string launch_function(const KernelSpec& spec) {
  const std::string space = namespace_of(spec);
  return (space.empty() ? "" : space + "::") + plain_name(spec);
}

std::string launcher_header_name(const KernelSpec& spec) {
  return plain_name(spec) + ".h";
}

std::string launcher_header(const KernelSpec& spec) {
  return "// Generated by kagent from the kernel.json of '" + spec.kernel +
         "'.\n#pragma once\n\n#include <cstdint>\n\n" + includes(spec) + "\n" + opened(namespace_of(spec)) +
         "// Launches " + spec.entry +
         " on the stream, and returns what the launch returned. Buffers lie on the device:\n" + extents_comment(spec) +
         declaration(spec) + closed(namespace_of(spec));
}

std::string launcher_source(const KernelSpec& spec, const std::string& kernel_text, const std::string& source_name,
                            const Launch& launch, Seen seen) {
  const std::string space = namespace_of(spec);
  std::string text =
      "// Generated by kagent: the kernel as it was chosen, and its launcher.\n"
      "#line 2 \"" +
      plain_name(spec) +
      ".h\"\n"
      "#include <algorithm>\n#include <atomic>\n#include <cstddef>\n#include <cstdint>\n"
      "#include <type_traits>\n\n" +
      includes(spec);
  text += launcher_prelude(launch);
  text += "\n#line 1 " + quoted(source_name) + "\n" + kernel_text;
  if (!text.ends_with('\n')) text += '\n';
  const std::string function = "cudaError_t " + plain_name(spec) + "(" + parameter_list(spec, kGiven) + ")";
  return text + "#line 1 \"" + plain_name(spec) + ".cu\"\n" + opened(space) +
         (seen == Seen::outside ? std::string(kSeen) : "") + function + ";\n" + function + " {\n" + body(spec, launch) +
         "}\n" + closed(space);
}

KernelSpec as_launcher(const KernelSpec& spec) {
  KernelSpec launcher = spec;
  launcher.style = Style::launcher;
  launcher.entry = launch_function(spec);
  launcher.launch.reset();
  Parameter stream;
  stream.kind = ParameterKind::stream;
  for (stream.name = "stream"; spec.find_parameter(stream.name) != nullptr;) stream.name += '_';
  for (Parameter& parameter : launcher.parameters) parameter.constant_memory = false;
  launcher.parameters.insert(launcher.parameters.begin(), std::move(stream));
  return launcher;
}

}  // namespace kagent::build_step
