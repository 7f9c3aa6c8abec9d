// SPDX-License-Identifier: Apache-2.0
#include "toolchain/machine.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <sys/utsname.h>
#include <unistd.h>

#include "util/files.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace {

// The value of the first line "key   : value" of /proc/cpuinfo.
std::string cpuinfo(std::string_view key) {
  const auto contents = util::read_file("/proc/cpuinfo");
  if (!contents) return {};
  const std::size_t at = ("\n" + *contents).find("\n" + std::string(key));
  if (at == std::string::npos) return {};
  const std::string_view line = std::string_view(*contents).substr(at, contents->find('\n', at) - at);
  const std::size_t colon = line.find(':');
  if (colon == line.npos || colon + 2 > line.size()) return {};
  return std::string(line.substr(colon + 2));
}

std::string machine_family() {
  utsname names{};
  return ::uname(&names) == 0 ? names.machine : "unknown";
}

}  // namespace

std::string x86_level(std::string_view flags) {
  const std::string padded = " " + std::string(flags) + " ";
  const auto has = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::all_of(
        names, [&](std::string_view name) { return padded.find(" " + std::string(name) + " ") != padded.npos; });
  };
  // The kernel's names: pni is SSE3, abm is LZCNT. It lists avx only where the system saves its registers (OSXSAVE).
  if (!has({"cx16", "lahf_lm", "popcnt", "pni", "ssse3", "sse4_1", "sse4_2"})) return "x86-64";
  if (!has({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"})) return "x86-64-v2";
  if (!has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) return "x86-64-v3";
  return "x86-64-v4";
}

std::string machine_level() {
  static const std::string level = machine_family() == "x86_64" ? x86_level(cpuinfo("flags")) : machine_family();
  return level;
}

bool machine_runs(const std::string& level) {
  const std::string own = machine_level();
  if (level == "native" || level == own) return true;
  // Within x86-64 the levels contain each other, and their names are in order.
  return own.starts_with("x86-64") && (level == "x86-64" || level == "x86-64-v2" || level == "x86-64-v3") &&
         level <= own;
}

std::string machine_description() {
  std::string model = cpuinfo("model name");
  if (model.empty()) model = machine_family();
  const long cores = ::sysconf(_SC_NPROCESSORS_ONLN);
  return util::clean(model, 200) + ", " + std::to_string(cores) + (cores == 1 ? " core, " : " cores, ") +
         machine_level();
}

std::string cache_description() {
  constexpr std::pair<const char*, int> kLevels[] = {
      {"L1", _SC_LEVEL1_DCACHE_SIZE}, {"L2", _SC_LEVEL2_CACHE_SIZE}, {"L3", _SC_LEVEL3_CACHE_SIZE}};
  constexpr long kKiB = 1024, kMiB = 1024 * kKiB;
  std::string text;
  for (const auto& [level, name] : kLevels) {
    const long bytes = ::sysconf(name);
    if (bytes <= 0) continue;
    if (!text.empty()) text += ", ";
    text += bytes % kMiB == 0 ? std::to_string(bytes / kMiB) + " MiB " : std::to_string(bytes / kKiB) + " KiB ";
    text += level;
  }
  return text;
}

}  // namespace kagent::toolchain
