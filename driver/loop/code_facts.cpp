// SPDX-License-Identifier: Apache-2.0
#include "loop/code_facts.h"

#include <algorithm>
#include <array>
#include <functional>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "toolchain/cuda_toolchain.h"
#include "util/text.h"

namespace kagent::loop {
namespace {

using toolchain::SassLine;
using toolchain::SassStatistics;
using toolchain::Widths;

constexpr std::size_t kMostLines = 6;
// An access of so many bits or more is taken for a vector's.
constexpr int kWide = 64;

void add(Widths& to, const Widths& from) {
  for (const auto& [bits, count] : from) to[bits] += count;
}

SassStatistics together(const std::vector<SassStatistics>& kernels) {
  SassStatistics sum;
  for (const SassStatistics& one : kernels) {
    for (const auto member :
         {&SassStatistics::instructions, &SassStatistics::fp32, &SassStatistics::fp64, &SassStatistics::fp16,
          &SassStatistics::integer, &SassStatistics::tensor, &SassStatistics::special_function,
          &SassStatistics::control, &SassStatistics::memory, &SassStatistics::async_copies,
          &SassStatistics::bulk_copies, &SassStatistics::local_loads, &SassStatistics::local_stores,
          &SassStatistics::atomics, &SassStatistics::barriers, &SassStatistics::branches})
      sum.*member += one.*member;
    add(sum.global_loads, one.global_loads);
    add(sum.global_stores, one.global_stores);
    add(sum.shared_loads, one.shared_loads);
    add(sum.shared_stores, one.shared_stores);
    for (const auto& [name, count] : one.tensor_instructions) sum.tensor_instructions[name] += count;
    for (const auto& [line, counts] : one.lines) {
      SassLine& to = sum.lines[line];
      for (const auto member : {&SassLine::instructions, &SassLine::global_accesses, &SassLine::narrow_accesses,
                                &SassLine::local, &SassLine::tensor, &SassLine::barriers, &SassLine::fp64})
        to.*member += counts.*member;
    }
  }
  return sum;
}

std::int64_t total(const Widths& widths) {
  std::int64_t sum = 0;
  for (const auto& [bits, count] : widths) sum += count;
  return sum;
}

// Mean width, share of wide ones, and the width itself where there is only one. Nothing where there is no access.
void add_widths(std::map<std::string, double>& numbers, const std::string& access, const Widths& widths) {
  const auto count = static_cast<double>(total(widths));
  if (count <= 0) return;
  double bits = 0, wide = 0;
  for (const auto& [width, times] : widths) {
    bits += static_cast<double>(width) * static_cast<double>(times);
    if (width >= kWide) wide += static_cast<double>(times);
  }
  numbers[access + "_bits"] = bits / count;
  numbers["wide_" + access + "s"] = wide / count;
  if (widths.size() == 1) numbers["uniform_" + access + "_bits"] = widths.begin()->first;
}

std::map<std::string, double> numbers_of(const SassStatistics& code) {
  std::map<std::string, double> numbers;
  const auto put = [&](const char* name, std::int64_t value) { numbers[name] = static_cast<double>(value); };
  put("code_instructions", code.instructions);
  put("tensor_instructions", code.tensor);
  put("fp64_instructions", code.fp64);
  put("local_instructions", code.local_loads + code.local_stores);
  put("barrier_instructions", code.barriers);
  add_widths(numbers, "load", code.global_loads);
  add_widths(numbers, "store", code.global_stores);
  return numbers;
}

std::string text_of(const Widths& widths) {
  std::string text;
  for (const auto& [bits, count] : widths)
    text += fmt::format("{}{} of {} bits", text.empty() ? "" : ", ", count, bits);
  return text;
}

std::string text_of(const SassStatistics& code) {
  const std::array<std::pair<const char*, std::int64_t>, 8> mix{{{"integer", code.integer},
                                                                 {"fp32", code.fp32},
                                                                 {"fp64", code.fp64},
                                                                 {"fp16", code.fp16},
                                                                 {"tensor", code.tensor},
                                                                 {"special functions", code.special_function},
                                                                 {"memory", code.memory},
                                                                 {"control", code.control}}};
  std::string text = fmt::format("{} instructions:", code.instructions);
  for (const auto& [what, count] : mix)
    if (count > 0)
      text += fmt::format("{} {:.0f} % {}", text.ends_with(':') ? "" : ",",
                          100 * static_cast<double>(count) / static_cast<double>(code.instructions), what);
  const auto part = [&text](const std::string& what, const std::string& says) {
    if (!says.empty()) text += "; " + what + ": " + says;
  };
  const auto number = [](std::int64_t count) { return count > 0 ? std::to_string(count) : std::string(); };
  part("global loads", text_of(code.global_loads));
  part("global stores", text_of(code.global_stores));
  part("shared loads", text_of(code.shared_loads));
  part("shared stores", text_of(code.shared_stores));
  part("asynchronous copies", number(code.async_copies + code.bulk_copies));
  part("local memory", number(code.local_loads + code.local_stores));
  part("atomics", number(code.atomics));
  part("barriers", number(code.barriers));
  std::string tensor;
  for (const auto& [name, count] : code.tensor_instructions)
    tensor += fmt::format("{}{} {}", tensor.empty() ? "" : ", ", count, name);
  part("tensor instructions", tensor);
  return text;
}

// The text of a line, counted from 1, without what surrounds it; empty where there is none.
std::string line_of(std::string_view source, int number) {
  constexpr std::size_t kMostQuoted = 100;
  for (int i = 1; i < number && !source.empty(); ++i)
    source.remove_prefix(
        std::min(source.size(), source.find('\n') == source.npos ? source.size() : source.find('\n') + 1));
  std::string line(source.substr(0, source.find('\n')));
  line.erase(0, std::min(line.size(), line.find_first_not_of(" \t")));
  return util::clean(line, kMostQuoted);
}

// Where something stands out: local memory first, then double precision, then narrow accesses, then what there is most.
std::vector<std::string> lines_of(const SassStatistics& code, std::string_view source) {
  using Entry = std::pair<int, SassLine>;
  std::vector<Entry> order(code.lines.begin(), code.lines.end());
  const auto rank = [](const Entry& entry) {
    const SassLine& line = entry.second;
    return std::tuple(line.local, line.fp64, line.narrow_accesses, line.instructions);
  };
  std::ranges::stable_sort(order, std::greater{}, rank);
  if (order.size() > kMostLines) order.resize(kMostLines);
  std::vector<std::string> lines;
  for (const auto& [number, line] : order) {
    const std::string quoted = line_of(source, number);
    std::string text = fmt::format("line {}{}: {} instructions", number, quoted.empty() ? "" : ", '" + quoted + "'",
                                   line.instructions);
    const auto part = [&text](std::int64_t count, const char* what) {
      if (count > 0) text += fmt::format(", {} {}", count, what);
    };
    part(line.local, "accesses to local memory");
    part(line.fp64, "in double precision");
    part(line.narrow_accesses, "accesses to global memory of 32 bits or less");
    part(line.global_accesses - line.narrow_accesses, "wider ones");
    part(line.tensor, "tensor instructions");
    part(line.barriers, "barriers");
    lines.push_back(std::move(text));
  }
  return lines;
}

}  // namespace

CodeFacts facts_of(const std::vector<SassStatistics>& kernels, std::string_view source) {
  CodeFacts facts;
  const SassStatistics code = together(kernels);
  if (code.instructions == 0) {
    facts.reason = "there is no device code";
    return facts;
  }
  facts.numbers = numbers_of(code);
  facts.text = text_of(code);
  facts.lines = lines_of(code, source);
  return facts;
}

std::filesystem::path device_code_of(const Binary& binary) {
  return binary.cubin.empty() ? binary.executable.parent_path() / toolchain::kCubinName : binary.cubin;
}

CodeFacts read_code(const std::filesystem::path& cubin, const std::filesystem::path& compiler,
                    std::string_view source) {
  CodeFacts facts;
  std::error_code error;
  const auto real = std::filesystem::canonical(compiler, error);
  const auto disassembler = toolchain::find_disassembler((error ? compiler : real).parent_path().parent_path());
  if (disassembler.program.empty()) {
    facts.reason = disassembler.reason;
  } else if (!std::filesystem::is_regular_file(cubin, error)) {
    facts.reason = "its device code is not there any more";
  } else if (const auto kernels = toolchain::disassemble(disassembler, cubin); !kernels) {
    facts.reason = kernels.error().message;
  } else {
    facts = facts_of(*kernels, source);
  }
  return facts;
}

}  // namespace kagent::loop
