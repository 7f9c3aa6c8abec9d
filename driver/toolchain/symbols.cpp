// SPDX-License-Identifier: Apache-2.0
#include "toolchain/symbols.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "toolchain/lines.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace {

struct Line {
  char kind = 0;
  std::string_view name;
};

// "0000000000000000 T name": the address is blank for what is not defined, and shorter for link-time optimisation.
Line parse_line(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == 0 || space == line.npos || line.size() < space + 4 || line[space + 2] != ' ') return {};
  return {line[space + 1], line.substr(space + 3)};
}

// Names that nvcc adds, some with a number made of the source's path; its anonymous namespaces are visible.
bool is_of_nvcc(std::string_view name) {
  return name.starts_with("__fatbinwrap") || name.starts_with("__cudaRegisterLinkedBinary") ||
         name.starts_with("__nv_") || name.starts_with("hostRef") || name.find("__device_stub_") != name.npos ||
         name.find("_GLOBAL__N__") != name.npos;
}

// Symbols that compilers add by themselves: exception tables, sanitizers, coverage.
bool is_of_the_compiler(std::string_view name) {
  return name.starts_with("DW.ref.") || name.starts_with("__odr_asan") || name.starts_with("__gcov") ||
         name.starts_with("__llvm_") || name.starts_with("__clang_") || name.starts_with("__covrec_") ||
         name.starts_with("__gnu_lto") || name.starts_with("__x86.") || is_of_nvcc(name);
}

// Names that the linker would give to everybody in the process: C functions, operator new and delete, the runner's own.
bool is_of_the_process(std::string_view name) {
  if (!name.starts_with("_Z")) return true;
  return name.starts_with("_Znw") || name.starts_with("_Zna") || name.starts_with("_Zdl") || name.starts_with("_Zda") ||
         name.starts_with("_ZN6kagent6runner");
}

bool is_of_the_runner(std::string_view name) {
  return name == "main" || name == "_start" || name == "kagent_call" || name == "kagent_cuda_call" ||
         name == "kagent_entry" || name.starts_with("_ZN6kagent6runner");
}

}  // namespace

std::vector<Symbol> parse_symbols(std::string_view mangled, std::string_view demangled) {
  std::vector<Symbol> symbols;
  const auto plain = split_lines(mangled), readable = split_lines(demangled);
  if (plain.size() != readable.size()) return symbols;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const Line line = parse_line(plain[i]), shown = parse_line(readable[i]);
    if (line.kind != 0 && line.kind != 'U' && line.kind == shown.kind)
      symbols.push_back({line.kind, std::string(line.name), std::string(shown.name)});
  }
  return symbols;
}

std::string last_name(std::string_view demangled) {
  std::string_view name = demangled.substr(0, demangled.find_first_of("(<["));
  if (const auto space = name.rfind(' '); space != name.npos) name.remove_prefix(space + 1);
  if (const auto colon = name.rfind("::"); colon != name.npos) name.remove_prefix(colon + 2);
  return std::string(name);
}

void mark_device_symbols(std::vector<Symbol>& symbols, const std::set<std::string>& device_functions) {
  constexpr std::string_view kStub = "__device_stub_";
  std::set<std::string, std::less<>> kernels;
  for (const Symbol& symbol : symbols)
    if (symbol.demangled.starts_with(kStub))
      kernels.insert(symbol.demangled.substr(kStub.size(), symbol.demangled.find('(') - kStub.size()));
  for (Symbol& symbol : symbols)
    symbol.of_device = kernels.contains(symbol.mangled) || device_functions.contains(last_name(symbol.demangled));
}

bool take_readable_names(std::vector<Symbol>& symbols, const std::vector<Symbol>& known) {
  std::map<std::string_view, std::string_view> names;
  for (const Symbol& symbol : known)
    if (symbol.is_global()) names.emplace(symbol.mangled, symbol.demangled);
  for (Symbol& symbol : symbols) {
    if (!symbol.is_global()) continue;
    const auto name = names.find(symbol.mangled);
    if (name == names.end()) return false;
    symbol.demangled = name->second;
  }
  return true;
}

std::string symbol_problem(const std::vector<Symbol>& symbols, const std::vector<Symbol>& baseline) {
  std::set<std::string_view> present, in_baseline;
  for (const Symbol& symbol : symbols)
    if (symbol.is_global()) present.insert(symbol.mangled);
  for (const Symbol& symbol : baseline)
    if (symbol.is_global()) in_baseline.insert(symbol.mangled);
  for (const Symbol& symbol : baseline)
    if (symbol.is_strong() && !symbol.of_device && !is_of_the_compiler(symbol.mangled) &&
        !present.contains(symbol.mangled))
      return "the source no longer defines '" + util::clean(symbol.demangled, 200) +
             "', which the baseline has for other files";
  for (const Symbol& symbol : symbols) {
    if (!symbol.is_global() || is_of_the_compiler(symbol.mangled)) continue;
    const bool refused =
        is_of_the_runner(symbol.mangled) ||
        (!baseline.empty() && !in_baseline.contains(symbol.mangled) && is_of_the_process(symbol.mangled));
    if (refused)
      return "the source defines '" + util::clean(symbol.demangled, 200) +
             "', which would take the place of another function of that name in the whole program; make it static";
  }
  return {};
}

std::string state_problem(const std::vector<Symbol>& symbols) {
  constexpr std::string_view kWritable = "dDbBCu";
  for (const Symbol& symbol : symbols) {
    // Every source that includes <iostream> has this one, which only counts.
    const bool harmless = symbol.mangled == "_ZStL8__ioinit";
    if (!harmless && kWritable.find(symbol.kind) != kWritable.npos)
      return "the source keeps state in '" + util::clean(symbol.demangled, 200) +
             "', and with ARCHITECTURES each level would have a copy of its own; move it to another source, or leave "
             "ARCHITECTURES out";
  }
  return {};
}

}  // namespace kagent::toolchain
