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

// What follows stands behind the baseline, whose macros may not meet its names.

std::string choice_function(const Dispatch& dispatch, const std::string& name) {
  std::string cases;
  for (const DispatchedLevel& variant : dispatch.variants)
    cases +=
        fmt::format("    case {}: kagent_chosen = {}; break;\n", capability(variant.architecture), variant.function);
  return fmt::format(R"(static void (*{0}_kept[{1}])();
static void (*{0}_choose(void (*kagent_baseline)()))() {{
  int kagent_device = 0, kagent_major = 0, kagent_minor = 0;
  if (cudaGetDevice(&kagent_device) != cudaSuccess) return kagent_baseline;
  const bool kagent_keeps = kagent_device >= 0 && kagent_device < {1};
  if (kagent_keeps)
    if (void (*kagent_kept)() = __atomic_load_n(&{0}_kept[kagent_device], __ATOMIC_RELAXED)) return kagent_kept;
  if (cudaDeviceGetAttribute(&kagent_major, cudaDevAttrComputeCapabilityMajor, kagent_device) != cudaSuccess ||
      cudaDeviceGetAttribute(&kagent_minor, cudaDevAttrComputeCapabilityMinor, kagent_device) != cudaSuccess)
    return kagent_baseline;
  void (*kagent_chosen)() = kagent_baseline;
  switch (10 * kagent_major + kagent_minor) {{
{2}    default: break;
  }}
  if (kagent_keeps) __atomic_store_n(&{0}_kept[kagent_device], kagent_chosen, __ATOMIC_RELAXED);
  return kagent_chosen;
}}
)",
                     name, kKeptDevices, cases);
}

// The types of the entry's parameters are known to the compiler alone. Hidden: the address is needed while the program
// is loaded, when a table entry for it might not be filled yet.
std::string call_template(const std::string& name) {
  return fmt::format(R"(template <class KagentResult, class... KagentTypes>
struct __attribute__((__visibility__("hidden"))) {0}_call {{
  template <KagentResult (*kagent_baseline)(KagentTypes...)>
  static KagentResult kagent_of(KagentTypes... kagent_arguments) {{
    return reinterpret_cast<KagentResult (*)(KagentTypes...)>({0}_choose(
        reinterpret_cast<void (*)()>(kagent_baseline)))(static_cast<KagentTypes&&>(kagent_arguments)...);
  }}
}};
template <class KagentResult, class... KagentTypes>
{0}_call<KagentResult, KagentTypes...> {0}_type(KagentResult (*)(KagentTypes...));
)",
                     name);
}

// A declaration of the entry as an indirect function.
std::string entry_declaration(const Dispatch& dispatch, const std::string& name, const std::string& baseline) {
  const std::string attributes = fmt::format("__attribute__((__ifunc__(\"{}_resolve\"), __visibility__(\"{}\")))", name,
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

Dispatcher device_dispatcher_source(const Dispatch& dispatch) {
  const RenamedBaseline renamed = renamed_baseline(dispatch.baseline, dispatch.entry);
  const std::string name = isolated_name(dispatch.target, dispatch.kernel, "dispatch");

  Dispatcher dispatcher;
  dispatcher.source = renamed.source + "#include \"dispatch.inc\"\n";
  std::string& text = dispatcher.resolver;
  text = "// Written by kagent; changes are lost.\n#include <cuda_runtime_api.h>\n";
  for (const DispatchedLevel& variant : dispatch.variants)
    text += fmt::format("extern \"C\" void {}();\n", variant.function);
  text += choice_function(dispatch, name) + call_template(name);
  // As its declaration has it: compilers compare the two.
  const std::string result = dispatch.symbol.empty() ? "decltype(&::" + renamed.entry + ")" : "kagent_function";
  text += fmt::format(
      "extern \"C\" {{\ntypedef void (*kagent_function)();\n__attribute__((__used__)) {2} {0}_resolve() {{\n"
      "  return reinterpret_cast<{2}>(&decltype({0}_type(&::{1}))::template kagent_of<&::{1}>);\n}}\n}}\n",
      name, renamed.entry, result);
  text += entry_declaration(dispatch, name, renamed.entry);
  return dispatcher;
}

}  // namespace kagent::build_step
