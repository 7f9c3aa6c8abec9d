// SPDX-License-Identifier: Apache-2.0
#include "build_step/device_dispatch.h"

#include <algorithm>

#include <fmt/core.h>

namespace kagent::build_step {
namespace {

// In the generated text: devices whose choice is kept. One beyond them is looked up at every call.
constexpr int kKeptDevices = 64;

// "sm_90a" -> "90", which is 10 * major + minor.
std::string capability(const std::string& architecture) {
  std::string digits;
  for (const char character : architecture)
    if (character >= '0' && character <= '9') digits += character;
  return digits;
}

std::string choice_function(const DeviceDispatch& dispatch, const std::string& name) {
  std::string cases;
  for (const DispatchedLevel& variant : dispatch.variants)
    cases += fmt::format("    case {}: chosen = {}; break;\n", capability(variant.architecture), variant.function);
  return fmt::format(R"(static void (*{0}_kept[{1}])();
static void (*{0}_choose(void (*baseline)()))() {{
  int device = 0, major = 0, minor = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return baseline;
  const bool keeps = device >= 0 && device < {1};
  if (keeps)
    if (void (*kept)() = __atomic_load_n(&{0}_kept[device], __ATOMIC_RELAXED)) return kept;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
    return baseline;
  void (*chosen)() = baseline;
  switch (10 * major + minor) {{
{2}    default: break;
  }}
  if (keeps) __atomic_store_n(&{0}_kept[device], chosen, __ATOMIC_RELAXED);
  return chosen;
}}
)",
                     name, kKeptDevices, cases);
}

// The types of the entry's parameters are known to the compiler alone. Hidden: the address is needed while the program
// is loaded, when a table entry for it might not be filled yet.
std::string call_template(const std::string& name) {
  return fmt::format(R"(template <class Result, class... Arguments>
struct __attribute__((visibility("hidden"))) {0}_call {{
  template <Result (*baseline)(Arguments...)>
  static Result of(Arguments... arguments) {{
    return reinterpret_cast<Result (*)(Arguments...)>({0}_choose(reinterpret_cast<void (*)()>(baseline)))(
        static_cast<Arguments&&>(arguments)...);
  }}
}};
template <class Result, class... Arguments>
{0}_call<Result, Arguments...> {0}_type(Result (*)(Arguments...));
)",
                     name);
}

// A declaration of the entry as an indirect function.
std::string entry_declaration(const DeviceDispatch& dispatch, const std::string& name, const std::string& baseline) {
  const std::string attributes = fmt::format("__attribute__((ifunc(\"{}_resolve\"), visibility(\"{}\")))", name,
                                             dispatch.hidden ? "protected" : "default");
  if (!dispatch.symbol.empty())
    return fmt::format("extern \"C\" void {}_entry() __asm__(\"{}\") {};\n", name, dispatch.symbol, attributes);
  std::string before, after, rest = dispatch.entry;
  for (std::size_t colon = rest.find("::"); colon != std::string::npos; colon = rest.find("::")) {
    before += "namespace " + rest.substr(0, colon) + " { ";
    after += " }";
    rest = rest.substr(colon + 2);
  }
  return fmt::format("{}extern decltype(::{}) {} {};{}\n", before, baseline, rest, attributes, after);
}

}  // namespace

Dispatcher device_dispatcher_source(const DeviceDispatch& dispatch) {
  const std::size_t colon = dispatch.entry.rfind("::");
  const std::string last = colon == std::string::npos ? dispatch.entry : dispatch.entry.substr(colon + 2);
  const std::string scope = colon == std::string::npos ? "" : dispatch.entry.substr(0, colon + 2);
  const std::string renamed = last + "_kagent_baseline", baseline = scope + renamed;
  const std::string name = isolated_name(dispatch.target, dispatch.kernel, "dispatch");

  Dispatcher dispatcher;
  dispatcher.source =
      fmt::format("#define {} {}\n{}\n#undef {}\n#include \"dispatch.inc\"\n", last, renamed, dispatch.baseline, last);
  std::string& text = dispatcher.resolver;
  text = "// Written by kagent; changes are lost.\n#include <cuda_runtime_api.h>\n";
  for (const DispatchedLevel& variant : dispatch.variants)
    text += fmt::format("extern \"C\" void {}();\n", variant.function);
  text += choice_function(dispatch, name) + call_template(name);
  // As its declaration has it: compilers compare the two.
  const std::string result = dispatch.symbol.empty() ? "decltype(&::" + baseline + ")" : "kagent_function";
  text += fmt::format(
      "extern \"C\" {{\ntypedef void (*kagent_function)();\n__attribute__((used)) {2} {0}_resolve() {{\n"
      "  return reinterpret_cast<{2}>(&decltype({0}_type(&::{1}))::template of<&::{1}>);\n}}\n}}\n",
      name, baseline, result);
  text += entry_declaration(dispatch, name, baseline);
  return dispatcher;
}

}  // namespace kagent::build_step
