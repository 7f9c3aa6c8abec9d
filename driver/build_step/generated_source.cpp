// SPDX-License-Identifier: Apache-2.0
#include "build_step/generated_source.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/core.h>

namespace kagent::build_step {
namespace {

namespace fs = std::filesystem;

constexpr char kNotice[] = "// Written by kagent; changes are lost. `kagent explain` says why this was chosen.\n";

// Characters that no identifier has become their code, so that different names stay different.
std::string identifier(const std::string& text) {
  std::string result;
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (std::isalnum(code) || character == '_')
      result += character;
    else
      result += fmt::format("_{:02x}", code);
  }
  return result;
}

std::string quoted(const fs::path& file) {
  std::string escaped;
  for (char character : file.string()) {
    if (character == '"' || character == '\\') escaped += '\\';
    escaped += character;
  }
  return "\"" + escaped + "\"";
}

// #line 1 "softmax.cu", and not a path.
bool is_line_of_a_plain_name(std::string_view line) {
  const std::size_t quote = line.find('"');
  return line.starts_with("#line ") && quote != line.npos && !line.substr(quote + 1).starts_with('/');
}

// Features of a level that both GCC and Clang can ask for (System V ABI, x86-64 micro-architecture levels).
std::string supported(const std::string& level) {
  auto all = [](std::initializer_list<const char*> features) {
    std::string text;
    for (const char* feature : features)
      text += fmt::format("{}__builtin_cpu_supports(\"{}\")", text.empty() ? "" : " && ", feature);
    return text;
  };
  if (level == "x86-64-v4") return all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
  if (level == "x86-64-v3") return all({"avx", "avx2", "bmi", "bmi2", "fma"});
  if (level == "x86-64-v2") return all({"sse3", "ssse3", "sse4.1", "sse4.2", "popcnt"});
  return "1";
}

}  // namespace

std::string baseline_source(const fs::path& source) {
  return kNotice + ("#include " + quoted(source)) + "\n";
}

std::string with_own_lines(const std::string& text, const fs::path& generated) {
  std::string result;
  std::size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    result += is_line_of_a_plain_name(line) ? fmt::format("#line {} {}", number + 1, quoted(generated)) : line;
    if (end < text.size()) result += '\n';
    begin = end + 1;
  }
  return result;
}

std::string isolated_name(const std::string& target, const std::string& kernel, const std::string& architecture) {
  return "kagent_" + identifier(target) + "_" + identifier(kernel) + "_" + identifier(architecture);
}

RenamedBaseline renamed_baseline(const std::string& baseline, const std::string& entry) {
  const std::size_t colon = entry.rfind("::");
  const std::string last = colon == std::string::npos ? entry : entry.substr(colon + 2);
  const std::string scope = colon == std::string::npos ? "" : entry.substr(0, colon + 2);
  const std::string name = last + "_kagent_baseline";
  return {fmt::format("#define {} {}\n{}\n#undef {}\n", last, name, baseline, last), scope + name};
}

Dispatcher dispatcher_source(Dispatch dispatch) {
  // Highest first; the names sort that way.
  std::vector<DispatchedLevel>& levels = dispatch.variants;
  std::ranges::sort(levels, std::greater<>{}, &DispatchedLevel::architecture);
  const RenamedBaseline baseline = renamed_baseline(dispatch.baseline, dispatch.entry);
  const std::string resolver = isolated_name(dispatch.target, dispatch.kernel, "resolve");

  Dispatcher dispatcher;
  dispatcher.source = baseline.source + "#include \"dispatch.inc\"\n";
  std::string& text = dispatcher.resolver;
  text = kNotice;
  text += "#pragma GCC system_header\n";
  for (const DispatchedLevel& level : levels) text += fmt::format("extern \"C\" void {}();\n", level.function);
  // Runs before the program's own code, where instrumented code would crash.
  text += fmt::format(
      "extern \"C\" __attribute__((used, no_sanitize(\"address\", \"undefined\", \"thread\"))) void (*{}())() {{\n"
      "  __builtin_cpu_init();\n",
      resolver);
  for (const DispatchedLevel& level : levels)
    text += fmt::format("  if ({}) return {};\n", supported(level.architecture), level.function);
  text += fmt::format("  return reinterpret_cast<void (*)()>(&::{});\n}}\n", baseline.entry);
  text += fmt::format("extern \"C\" void {}() __asm__(\"{}\") __attribute__((ifunc(\"{}\"), visibility(\"{}\")));\n",
                      isolated_name(dispatch.target, dispatch.kernel, "entry"), dispatch.symbol, resolver,
                      dispatch.hidden ? "protected" : "default");
  return dispatcher;
}

}  // namespace kagent::build_step
