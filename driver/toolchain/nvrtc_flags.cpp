// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "toolchain/nvrtc_toolchain.h"

namespace kagent::toolchain {
namespace {

namespace fs = std::filesystem;

// Options of nvcc with a value, in all their spellings (nvcc --help), and what NVRTC calls them.
struct Valued {
  std::string_view long_name, short_name;
  std::string_view nvrtc;  // empty: nothing stands for it
  bool is_path = false;
};

constexpr std::array kValued = {
    Valued{"--define-macro", "-D", "-D"},
    Valued{"--undefine-macro", "-U", "-U"},
    Valued{"--include-path", "-I", "-I", true},
    Valued{"--system-include", "-isystem", "-I", true},
    Valued{"--pre-include", "-include", "--pre-include=", true},
    Valued{"--std", "-std", "--std="},
    Valued{"--maxrregcount", "-maxrregcount", "--maxrregcount="},
    Valued{"--ftz", "-ftz", "--ftz="},
    Valued{"--prec-div", "-prec-div", "--prec-div="},
    Valued{"--prec-sqrt", "-prec-sqrt", "--prec-sqrt="},
    Valued{"--fmad", "-fmad", "--fmad="},
    Valued{"--diag-suppress", "-diag-suppress", "--diag-suppress="},
    Valued{"--diag-warn", "-diag-warn", "--diag-warn="},
    Valued{"--diag-error", "-diag-error", "--diag-error="},
    Valued{"--ptxas-options", "-Xptxas", "--ptxas-options="},
    Valued{"--compiler-options", "-Xcompiler", ""},
    Valued{"--linker-options", "-Xlinker", ""},
    Valued{"--cudafe-options", "-Xcudafe", ""},
    Valued{"--nvlink-options", "-Xnvlink", ""},
    Valued{"--archive-options", "-Xarchive", ""},
    Valued{"--compiler-bindir", "-ccbin", ""},
    Valued{"--x", "-x", ""},
    Valued{"--threads", "-t", ""},
    Valued{"--relocatable-device-code", "-rdc", ""},
    Valued{"--cudart", "-cudart", ""},
    Valued{"--library-path", "-L", ""},
    Valued{"--library", "-l", ""},
    Valued{"--Werror", "-Werror", ""},
    Valued{"--optimize", "-O", ""},
    Valued{"--split-compile", "-split-compile", ""},
    Valued{"--default-stream", "-default-stream", ""},
    Valued{"--options-file", "-optf", ""},
};
// Replaced by the one architecture that is compiled for.
constexpr std::array kArchitecture = {Valued{"--generate-code", "-gencode", ""},
                                      Valued{"--gpu-architecture", "-arch", ""}, Valued{"--gpu-code", "-code", ""}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kPlain = {
    {{"--use_fast_math", "-use_fast_math"},
     {"--generate-line-info", "-lineinfo"},
     {"--restrict", "-restrict"},
     {"--device-debug", "-G"},
     {"--disable-warnings", "-w"},
     {"--device-int128", "-device-int128"},
     {"--extra-device-vectorization", "-extra-device-vectorization"}}};

// One letter joins its value: -DX, -I/usr/include, -O3.
bool joins(std::string_view name) {
  return name.size() == 2;
}

// How many words the option takes at `index`, and its value; 0 words if it is another option.
struct Match {
  std::size_t words = 0;
  std::string value;
};

Match match(const std::vector<std::string>& words, std::size_t index, const Valued& option) {
  const std::string_view word = words[index];
  for (const std::string_view name : {option.long_name, option.short_name}) {
    if (!word.starts_with(name)) continue;
    const std::string_view rest = word.substr(name.size());
    if (rest.empty()) {
      if (index + 1 < words.size()) return {2, words[index + 1]};
      return {1, {}};
    }
    if (rest.front() == '=') return {1, std::string(rest.substr(1))};
    if (joins(name)) return {1, std::string(rest)};
  }
  return {};
}

// NVRTC knows the standards up to C++20, and no GNU dialects.
std::string standard(std::string value) {
  if (value.starts_with("gnu++")) value.replace(0, 5, "c++");
  return value;
}

bool is_known_standard(const std::string& value) {
  return value == "c++03" || value == "c++11" || value == "c++14" || value == "c++17" || value == "c++20";
}

bool is_taken_by_ptxas(std::string_view value) {
  return value == "-v" || value.starts_with("-O") || value.starts_with("-dlcm") || value.starts_with("-dscm");
}

class Translation {
 public:
  explicit Translation(const CompileCommand& command) : words_(command.options), directory_(command.directory) {}

  NvrtcFlags run() {
    while (at_ < words_.size()) at_ += step();
    return std::move(flags_);
  }

 private:
  std::size_t step() {
    for (const Valued& option : kArchitecture)
      if (const Match found = match(words_, at_, option); found.words > 0) return found.words;
    for (const auto& [long_name, short_name] : kPlain)
      if (words_[at_] == long_name || words_[at_] == short_name) {
        // "-w" and "-G" have no long name in NVRTC that all its versions know.
        flags_.taken.emplace_back(short_name.size() == 2 ? short_name : long_name);
        return 1;
      }
    for (const Valued& option : kValued)
      if (const Match found = match(words_, at_, option); found.words > 0) {
        take(option, found);
        return found.words;
      }
    flags_.left_out.push_back(words_[at_]);
    return 1;
  }

  void take(const Valued& option, const Match& found) {
    std::string value = option.nvrtc == "--std=" ? standard(found.value) : found.value;
    if (option.nvrtc == "--ptxas-options=") return take_for_ptxas(value);
    const bool fits = !option.nvrtc.empty() && (option.nvrtc != "--std=" || is_known_standard(value));
    if (!fits) {
      for (std::size_t i = 0; i < found.words; ++i) flags_.left_out.push_back(words_[at_ + i]);
      if (option.nvrtc == "--std=" && (value == "c++23" || value == "c++26")) flags_.taken.emplace_back("--std=c++20");
      return;
    }
    if (option.is_path && fs::path(value).is_relative()) value = (directory_ / value).lexically_normal().string();
    flags_.taken.push_back(std::string(option.nvrtc) + value);
  }

  // "-O3,-dlcm=cg,-warn-spills": each for itself.
  void take_for_ptxas(std::string_view list) {
    while (!list.empty()) {
      const std::string_view one = list.substr(0, list.find(','));
      if (is_taken_by_ptxas(one))
        flags_.taken.push_back("--ptxas-options=" + std::string(one));
      else
        flags_.left_out.push_back("-Xptxas=" + std::string(one));
      list.remove_prefix(std::min(one.size() + 1, list.size()));
    }
  }

  const std::vector<std::string>& words_;
  const fs::path& directory_;
  std::size_t at_ = 0;
  NvrtcFlags flags_;
};

}  // namespace

NvrtcFlags nvrtc_flags(const CompileCommand& command) {
  return Translation(command).run();
}

}  // namespace kagent::toolchain
