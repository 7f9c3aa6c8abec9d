// SPDX-License-Identifier: Apache-2.0
#include "toolchain/nvrtc_source.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "toolchain/lines.h"
#include "toolchain/signature.h"

namespace kagent::toolchain {
namespace {

// Where NVRTC's time goes: templates and intrinsics by the ten thousand lines.
constexpr std::array<std::string_view, 12> kHeavy = {
    "cub/",        "thrust/",    "cuda/",         "cooperative_groups", "mma.h",           "cuda_fp16.h",
    "cuda_bf16.h", "cuda_fp8.h", "cuda_pipeline", "cuda_awbarrier",     "curand_kernel.h", "cuda_fp4.h"};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::string_view first_word(std::string_view text) {
  return text.substr(0, std::min(text.find_first_of(" \t<\"("), text.size()));
}

struct Directive {
  std::string_view name, argument;
};

std::optional<Directive> directive(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = trimmed(line.substr(1));
  const std::string_view name = first_word(line);
  return Directive{name, trimmed(line.substr(name.size()))};
}

}  // namespace

std::vector<std::string> leading_headers(std::string_view source, const std::set<std::string>& tunables) {
  std::vector<std::string> headers;
  bool in_comment = false;
  for (std::string_view line : split_lines(source)) {
    line = trimmed(line);
    if (in_comment || line.starts_with("/*")) {
      in_comment = line.find("*/") == line.npos;
      continue;
    }
    if (line.empty() || line.starts_with("//")) continue;
    const auto found = directive(line);
    // From the first line of code on, what is included may depend on it.
    if (!found || line.back() == '\\') break;
    const bool of_tunable = tunables.contains(std::string(first_word(found->argument)));
    if (found->name == "include") {
      const std::string_view name = found->argument;
      const std::size_t close = name.find('>');
      if (!name.starts_with('<') || close == name.npos) break;
      const std::string_view header = name.substr(1, close - 1);
      if (std::ranges::any_of(kHeavy, [&](std::string_view heavy) { return header.starts_with(heavy); }))
        headers.emplace_back(header);
    } else if (found->name != "line" && found->name != "pragma" && found->name != "endif" && !of_tunable) {
      break;
    }
  }
  return headers;
}

std::string geometry_text(const Launch& launch, const std::map<std::string, std::int64_t>& tunables) {
  std::string text = launch.cluster ? "cluster\n" : "";
  for (const Expression* expression : expressions_of(launch)) {
    std::string line = expression->to_cpp();
    for (const std::string& name : expression->names()) {
      const auto value = tunables.find(name);
      if (value == tunables.end()) continue;
      const std::string cast = "static_cast<std::int64_t>(" + name + ")";
      const std::string number = "std::int64_t{" + std::to_string(value->second) + "}";
      for (std::size_t at = 0; (at = line.find(cast, at)) != std::string::npos; at += number.size())
        line.replace(at, cast.size(), number);
    }
    text += line + "\n";
  }
  return text;
}

std::string values_probe(std::string_view source) {
  return std::string(source) + "\ntemplate <long long... kValues>\n__global__ void kagent_values() {}\n";
}

std::string values_instance(const std::vector<std::string>& macros) {
  std::string text;
  for (const std::string& macro : macros) text += (text.empty() ? "" : ", ") + macro;
  return "kagent_values<" + text + ">";
}

std::optional<std::vector<std::int64_t>> read_values(std::string_view lowered_name, std::size_t count) {
  std::vector<std::int64_t> values;
  for (std::size_t at = 0; (at = lowered_name.find("Lx", at)) != lowered_name.npos;) {
    at += 2;
    const std::size_t end = lowered_name.find('E', at);
    if (end == lowered_name.npos) return std::nullopt;
    std::string digits(lowered_name.substr(at, end - at));
    if (digits.starts_with('n')) digits[0] = '-';  // Itanium C++ ABI, 5.1.5
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
    values.push_back(value);
    at = end;
  }
  if (values.size() != count) return std::nullopt;
  return values;
}

std::optional<std::vector<std::string>> kernel_parameter_types(std::string_view demangled) {
  if (!demangled.ends_with(')')) return std::nullopt;
  // The list is the last pair of parentheses at depth 0.
  std::size_t open = demangled.size();
  for (int depth = 0; open > 0;) {
    const char c = demangled[--open];
    if (c == ')') ++depth;
    if (c == '(' && --depth == 0) break;
  }
  return split_types(demangled.substr(open + 1, demangled.size() - open - 2));
}

}  // namespace kagent::toolchain
