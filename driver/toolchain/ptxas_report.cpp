// SPDX-License-Identifier: Apache-2.0
#include "toolchain/ptxas_report.h"

#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>

#include <cxxabi.h>

#include "toolchain/lines.h"

namespace kagent::toolchain {

namespace {

constexpr std::string_view kInfo = "ptxas info";
constexpr std::string_view kEntry = "Compiling entry function '";
constexpr std::string_view kFrame = " bytes stack frame";

// The number in front of `words`, as in "Used 8 registers"; nothing if they are not there.
std::optional<std::int64_t> number_before(std::string_view line, std::string_view words) {
  const std::size_t end = line.find(words);
  if (end == line.npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(line.data() + begin, line.data() + end, number);
  if (error != std::errc() || stop != line.data() + end) return std::nullopt;
  return number;
}

// What stands between `before` and the next quote.
std::string_view quoted_behind(std::string_view line, std::string_view before) {
  const std::size_t at = line.find(before);
  if (at == line.npos) return {};
  line.remove_prefix(at + before.size());
  return line.substr(0, line.find('\''));
}

// nvcc's lines begin with blanks, NVRTC's with "ptxas         .".
bool is_report(std::string_view line) {
  return line.starts_with(kInfo) || line.find(kFrame) != line.npos || line.starts_with("ptxas  ");
}

}  // namespace

std::vector<DeviceUsage> parse_ptxas_report(std::string_view output, std::string_view architecture) {
  std::vector<DeviceUsage> usages;
  bool wanted = false;     // the entry's lines are those of the architecture
  bool in_helper = false;  // the frame that follows is that of another function
  std::string mangled;
  for (const std::string_view line : split_lines(output)) {
    if (const std::string_view name = quoted_behind(line, kEntry); !name.empty()) {
      const std::string_view compiled_for = quoted_behind(line, "' for '");
      wanted = architecture.empty() || compiled_for == architecture;
      mangled = std::string(name);
      in_helper = false;
      if (!wanted) continue;
      usages.emplace_back();
      usages.back().kernel = demangled(mangled);
    } else if (const std::size_t at = line.find("Function properties for "); at != line.npos) {
      std::string_view function = line.substr(at + std::string_view("Function properties for ").size());
      while (!function.empty() && (function.back() == ' ' || function.back() == '\r')) function.remove_suffix(1);
      in_helper = function != mangled;
    } else if (wanted && !in_helper) {
      DeviceUsage& usage = usages.back();
      if (const auto bytes = number_before(line, kFrame)) usage.stack_bytes = *bytes;
      if (const auto bytes = number_before(line, " bytes spill stores")) usage.spill_store_bytes = *bytes;
      if (const auto bytes = number_before(line, " bytes spill loads")) usage.spill_load_bytes = *bytes;
      if (const auto count = number_before(line, " registers")) usage.registers = static_cast<int>(*count);
      if (const auto count = number_before(line, " barriers")) usage.barriers = static_cast<int>(*count);
      if (const auto bytes = number_before(line, " bytes smem")) usage.shared_bytes = *bytes;
    }
  }
  return usages;
}

std::string without_ptxas_report(std::string_view output) {
  std::string kept;
  for (const std::string_view line : split_lines(output))
    if (!is_report(line) && line.find_first_not_of(" \t\r") != line.npos) kept += std::string(line) + "\n";
  return kept;
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

}  // namespace kagent::toolchain
