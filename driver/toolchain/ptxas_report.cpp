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

// Compute capabilities 5.0 to 12.x: CUDA C++ Programming Guide, table of technical specifications per compute
// capability. Registers are given to warps in units of 256.
constexpr int kThreadsPerBlock = 1024, kRegistersPerBlock = 65536, kWarp = 32, kRegisterUnit = 256;
// Without a request for more at run time; what ptxas refuses by itself, too.
constexpr std::int64_t kStaticSharedBytes = 48 << 10;

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

// nvcc gives static functions of relocatable device code a name of its own: "__nv_static_25__<module>__Z4kern...".
std::string without_static_prefix(const std::string& name) {
  if (!name.starts_with("__nv_static_")) return name;
  const std::size_t at = name.find("__Z");
  return at != name.npos ? name.substr(at + 1) : name;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// The first line of the source that contains an instruction, its first word at least; 0 if none does.
long find_instruction(std::string_view source, std::string_view instruction) {
  const std::string_view word = instruction.substr(0, instruction.find_first_of(" ;\t"));
  if (word.size() < 3) return 0;
  const std::vector<std::string_view> lines = split_lines(source);
  for (const std::string_view text : {instruction, word})
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (lines[i].find(text) != std::string_view::npos) return static_cast<long>(i) + 1;
  return 0;
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
  std::string plain = without_static_prefix(name);
  if (!plain.starts_with("_Z")) return plain;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? std::string(text.get()) : plain;
}

std::map<std::string, int> parse_thread_bounds(std::string_view ptx) {
  std::map<std::string, int> bounds;
  std::string kernel;
  for (std::string_view line : split_lines(ptx)) {
    line = trimmed(line);
    if (const std::size_t at = line.find(".entry "); at != line.npos) {
      const std::string_view name = trimmed(line.substr(at + 7));
      kernel = demangled(std::string(name.substr(0, name.find('('))));
    }
    for (const std::string_view directive : {".maxntid ", ".reqntid "}) {
      if (!line.starts_with(directive) || kernel.empty()) continue;
      std::int64_t threads = 1;
      std::string_view rest = line.substr(directive.size());
      while (!rest.empty()) {
        const std::string_view number = trimmed(rest.substr(0, rest.find(',')));
        int extent = 1;
        std::from_chars(number.data(), number.data() + number.size(), extent);
        threads = std::min<std::int64_t>(threads * extent, 1 << 20);
        rest.remove_prefix(std::min(rest.size(), rest.find(',') == rest.npos ? rest.size() : rest.find(',') + 1));
      }
      bounds[kernel] = static_cast<int>(threads);
    }
  }
  return bounds;
}

std::string launch_problem(const DeviceUsage& usage, int threads, std::string_view architecture) {
  const std::string kernel = "the kernel '" + usage.kernel + "' ";
  const std::string on = " on " + std::string(architecture);
  if (threads > kThreadsPerBlock)
    return kernel + "is for " + std::to_string(threads) + " threads a block; the limit" + on + " is " +
           std::to_string(kThreadsPerBlock);
  if (usage.shared_bytes > kStaticSharedBytes)
    return kernel + "has " + std::to_string(usage.shared_bytes) + " bytes of static shared memory; the limit" + on +
           " is " + std::to_string(kStaticSharedBytes) + " (dynamic shared memory may be larger)";
  const int warps = (threads + kWarp - 1) / kWarp;
  const int per_warp = (usage.registers * kWarp + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
  if (warps * per_warp > kRegistersPerBlock)
    return kernel + "takes " + std::to_string(usage.registers) + " registers a thread, " +
           std::to_string(warps * per_warp) + " for a block of " + std::to_string(threads) + " threads; the limit" +
           on + " is " + std::to_string(kRegistersPerBlock);
  return {};
}

std::string with_source_lines(std::string_view output, std::string_view ptx, std::string_view source,
                              std::string_view source_path) {
  const std::vector<std::string_view> assembly = split_lines(ptx);
  std::string result;
  for (const std::string_view line : split_lines(output)) {
    const auto number = line.starts_with("ptxas ") ? number_before(line, "; ") : std::nullopt;
    const std::size_t colon = number ? line.find(": ") : line.npos;
    if (colon != line.npos && *number > 0 && *number <= static_cast<std::int64_t>(assembly.size())) {
      const std::string_view instruction = trimmed(assembly[static_cast<std::size_t>(*number) - 1]);
      const std::string message = std::string(line.substr(colon + 2)) + " in '" + std::string(instruction) + "'";
      const bool warning = line.find("; warning") != line.npos;
      if (const long found = find_instruction(source, instruction); found > 0)
        result += std::string(source_path) + "(" + std::to_string(found) + (warning ? "): warning: " : "): error: ") +
                  message + "\n";
      else
        result += std::string("ptxas ") + (warning ? "warning" : "error") + "   : " + message + "\n";
      continue;
    }
    result += std::string(line) + "\n";
  }
  return result;
}

}  // namespace kagent::toolchain
