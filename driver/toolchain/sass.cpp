// SPDX-License-Identifier: Apache-2.0
#include "toolchain/sass.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "toolchain/lines.h"
#include "toolchain/ptxas_report.h"
#include "toolchain/tool_process.h"
#include "util/subprocess.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kTimeLimit{60};
// Unrolled kernels have megabytes of text.
constexpr std::uint64_t kMostTextBytes = 64 << 20;

// Operations by their name up to the first dot. The names: CUDA Binary Utilities, instruction set references of
// Volta to Blackwell.
constexpr std::array<std::string_view, 12> kFp32 = {"FADD", "FMUL", "FFMA",  "FSETP", "FMNMX", "FSET",
                                                    "FSEL", "FCHK", "FADD2", "FMUL2", "FFMA2", "FSWZADD"};
constexpr std::array<std::string_view, 5> kFp64 = {"DADD", "DMUL", "DFMA", "DSETP", "DMNMX"};
constexpr std::array<std::string_view, 7> kFp16 = {"HADD2", "HMUL2", "HFMA2", "HSETP2", "HSET2", "HMNMX2", "HFMA2_MMA"};
constexpr std::array<std::string_view, 24> kControl = {
    "BRA",   "BRX",  "BRXU",     "JMP",   "JMX",  "JMXU", "CALL",      "RET",   "EXIT", "PEXIT", "BSSY",   "BSYNC",
    "BREAK", "BMOV", "WARPSYNC", "YIELD", "KILL", "BPT",  "NANOSLEEP", "ELECT", "BAR",  "SYNCS", "DEPBAR", "B2R"};
constexpr std::array<std::string_view, 4> kBranches = {"BRA", "BRX", "JMP", "JMX"};

template <class List>
bool is_in(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

// HMMA, HGMMA, QGMMA, IMMA, DMMA, BMMA, UTCHMMA, ...
bool is_tensor(std::string_view name) {
  return name.ends_with("MMA") || name.starts_with("UTCHMMA") || name.starts_with("UTCQMMA");
}

bool is_atomic(std::string_view name) {
  return name.starts_with("ATOM") || name == "RED" || name == "REDG" || name == "REDS";
}

bool is_bulk_copy(std::string_view name) {
  return name.starts_with("UBLKCP") || name.starts_with("UBLKRED") || name.starts_with("UTMALDG") ||
         name.starts_with("UTMASTG") || name.starts_with("UTMAREDG");
}

bool is_memory(std::string_view name) {
  constexpr std::array<std::string_view, 17> kMemory = {"LDG",  "STG",  "LDS",    "STS",    "LDL",      "STL",
                                                        "LD",   "ST",   "LDSM",   "STSM",   "TEX",      "TLD",
                                                        "SULD", "SUST", "MEMBAR", "LDGSTS", "LDGDEPBAR"};
  return is_in(kMemory, name) || is_atomic(name) || is_bulk_copy(name);
}

struct Instruction {
  std::string_view address;    // hexadecimal digits
  std::string_view operation;  // "LDG.E.128"
  std::string_view operands;
  bool never = false;  // guarded by a predicate that is never true
  std::string_view name() const { return operation.substr(0, operation.find('.')); }
};

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

// "        /*0070*/              @P0 LDG.E R5, desc[UR4][R16.64] ;     /* 0x0000000410057981 */"
std::optional<Instruction> parse_instruction(std::string_view line) {
  line = trim(line);
  if (!line.starts_with("/*") || line.starts_with("/* ")) return std::nullopt;
  const std::size_t end = line.find("*/"), semicolon = line.find(';');
  if (end == line.npos || semicolon == line.npos || semicolon < end) return std::nullopt;
  Instruction instruction;
  instruction.address = line.substr(2, end - 2);
  std::string_view text = trim(line.substr(end + 2, semicolon - end - 2));
  if (text.starts_with('{')) text = trim(text.substr(1));
  if (text.starts_with('@')) {
    const std::size_t space = std::min(text.find(' '), text.size());
    instruction.never = text.substr(0, space) == "@!PT" || text.substr(0, space) == "@!UPT";
    text = trim(text.substr(space));
  }
  const std::size_t space = std::min(text.find(' '), text.size());
  instruction.operation = text.substr(0, space);
  instruction.operands = trim(text.substr(space));
  if (instruction.operation.empty()) return std::nullopt;
  return instruction;
}

bool has_part(std::string_view operation, std::string_view part) {
  for (std::size_t at = operation.find(part); at != operation.npos; at = operation.find(part, at + 1))
    if (at + part.size() == operation.size() || operation[at + part.size()] == '.') return true;
  return false;
}

// Bits a thread moves.
int width_of(const Instruction& instruction) {
  const std::string_view operation = instruction.operation;
  // Matrices of 8 x 8 halves: 32 bits a thread each.
  if (instruction.name() == "LDSM" || instruction.name() == "STSM")
    return operation.ends_with(".4") ? 128 : operation.ends_with(".2") ? 64 : 32;
  constexpr std::array<std::pair<std::string_view, int>, 9> kParts = {{{".256", 256},
                                                                       {".128", 128},
                                                                       {".64", 64},
                                                                       {".U16", 16},
                                                                       {".S16", 16},
                                                                       {".16", 16},
                                                                       {".U8", 8},
                                                                       {".S8", 8},
                                                                       {".8", 8}}};
  for (const auto& [part, bits] : kParts)
    if (has_part(operation, part)) return bits;
  return 32;
}

void count_memory(const Instruction& instruction, SassStatistics& kernel) {
  const std::string_view name = instruction.name();
  const int width = width_of(instruction);
  if (name == "LDG" || name == "LD")
    ++kernel.global_loads[width];
  else if (name == "STG" || name == "ST")
    ++kernel.global_stores[width];
  else if (name == "LDS" || name == "LDSM")
    ++kernel.shared_loads[width];
  else if (name == "STS" || name == "STSM")
    ++kernel.shared_stores[width];
  else if (name == "LDL")
    ++kernel.local_loads;
  else if (name == "STL")
    ++kernel.local_stores;
  else if (name == "LDGSTS")
    ++kernel.async_copies, ++kernel.global_loads[width];
  else if (is_bulk_copy(name))
    ++kernel.bulk_copies;
  else if (is_atomic(name))
    ++kernel.atomics;
}

void count(const Instruction& instruction, SassStatistics& kernel) {
  const std::string_view name = instruction.name();
  ++kernel.instructions;
  if (is_tensor(name)) {
    ++kernel.tensor;
    ++kernel.tensor_instructions[std::string(instruction.operation)];
  } else if (is_memory(name)) {
    ++kernel.memory;
    count_memory(instruction, kernel);
  } else if (is_in(kFp32, name)) {
    ++kernel.fp32;
  } else if (is_in(kFp64, name)) {
    ++kernel.fp64;
  } else if (is_in(kFp16, name)) {
    ++kernel.fp16;
  } else if (name == "MUFU") {
    ++kernel.special_function;
  } else if (is_in(kControl, name) || name.starts_with("WARPGROUP")) {
    ++kernel.control;
    if (is_in(kBranches, name)) ++kernel.branches;
    if (name == "BAR" || name == "SYNCS") ++kernel.barriers;
  } else {
    ++kernel.integer;
  }
}

void count(const Instruction& instruction, SassLine& line) {
  const std::string_view name = instruction.name();
  ++line.instructions;
  if (is_tensor(name)) {
    ++line.tensor;
  } else if (name == "LDG" || name == "LD" || name == "STG" || name == "ST" || name == "LDGSTS") {
    ++line.global_accesses;
    if (width_of(instruction) <= 32) ++line.narrow_accesses;
  } else if (name == "LDL" || name == "STL") {
    ++line.local;
  } else if (name == "BAR" || name == "SYNCS") {
    ++line.barriers;
  } else if (is_in(kFp64, name)) {
    ++line.fp64;
  }
}

// Behind the last EXIT lies a branch to itself.
bool is_trap(const Instruction& instruction, std::string_view label) {
  if (instruction.name() != "BRA") return false;
  if (!label.empty() && instruction.operands == "`(" + std::string(label) + ")") return true;
  const std::size_t x = instruction.operands.find("0x");
  if (x == instruction.operands.npos) return false;
  const auto number = [](std::string_view digits) {
    unsigned long long value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return value;
  };
  return number(instruction.operands.substr(x + 2)) == number(instruction.address);
}

// The function that a line begins: "Function : name" (cuobjdump), ".section .text.name,..." (nvdisasm).
std::string_view function_of(std::string_view line) {
  constexpr std::string_view kFunction = "Function : ", kSection = ".text.";
  line = trim(line);
  if (line.starts_with(kFunction)) return trim(line.substr(kFunction.size()));
  if (!line.starts_with(".section")) return {};
  const std::size_t at = line.find(kSection);
  if (at == line.npos) return {};
  line.remove_prefix(at + kSection.size());
  return line.substr(0, line.find_first_of(",\" \t"));
}

// The last "line N" of `//## File "k.cu", line 18` or `... inlined at "k.cu", line 20`: the place in the source itself.
int line_of(std::string_view line) {
  constexpr std::string_view kLine = "\", line ";
  const std::size_t at = line.rfind(kLine);
  int number = 0;
  if (at != line.npos) std::from_chars(line.data() + at + kLine.size(), line.data() + line.size(), number);
  return number;
}

fs::path find_tool(const fs::path& toolkit, const std::string& name) {
  std::error_code error;
  if (fs::path file = toolkit / "bin" / name; !toolkit.empty() && fs::exists(file, error)) return file;
  const char* path = std::getenv("PATH");
  return util::find_program(name, path != nullptr ? path : "/usr/local/cuda/bin:/usr/bin");
}

}  // namespace

std::vector<SassStatistics> parse_sass(std::string_view text) {
  std::vector<SassStatistics> kernels;
  std::string_view label;
  int source_line = 0;
  for (const std::string_view line : split_lines(text)) {
    if (const std::string_view name = function_of(line); !name.empty()) {
      kernels.emplace_back().kernel = util::clean(demangled(std::string(name)), 1000);
      source_line = 0;
    } else if (const std::string_view shown = trim(line); shown.starts_with("//## File ")) {
      source_line = line_of(shown);
    } else if (shown.starts_with(".L_") && shown.ends_with(':')) {
      label = shown.substr(0, shown.size() - 1);
    } else if (const auto instruction = parse_instruction(line); instruction && !kernels.empty()) {
      if (instruction->name() != "NOP" && !instruction->never && !is_trap(*instruction, label)) {
        count(*instruction, kernels.back());
        if (source_line > 0) count(*instruction, kernels.back().lines[source_line]);
      }
      label = {};
    }
  }
  std::erase_if(kernels, [](const SassStatistics& kernel) { return kernel.instructions == 0; });
  return kernels;
}

Disassembler find_disassembler(const fs::path& toolkit) {
  // cuobjdump is no second choice: it calls nvdisasm.
  if (fs::path found = find_tool(toolkit, "nvdisasm"); !found.empty()) return {std::move(found), {}};
  return {
      {},
      "there is no nvdisasm in the CUDA Toolkit or the search path; it comes with the full toolkit, or as the Python "
      "package nvidia-cuda-nvdisasm"};
}

Result<std::vector<SassStatistics>> disassemble(const Disassembler& disassembler, const fs::path& cubin) {
  if (disassembler.program.empty()) return failure(disassembler.reason);
  // A candidate's own code is read here.
  ToolProcess process;
  process.visible = installation_of(disassembler.program);
  process.time_limit = kTimeLimit;
  process.output_bytes = kMostTextBytes;
  process.allow_unsandboxed = true;
  const std::string file = (process.seen(cubin.parent_path()) / cubin.filename()).string();
  const std::vector<std::string> words = {disassembler.program.string(), "-gi", "-c", file};
  const auto finished = process.run(words, cubin.parent_path());
  if (!finished) return std::unexpected(finished.error());
  if (!finished->ok())
    return failure("nvdisasm cannot read '" + cubin.string() + "': " + util::clean(finished->standard_error, 300));
  return parse_sass(finished->standard_output);
}

}  // namespace kagent::toolchain
