// SPDX-License-Identifier: Apache-2.0
#include "toolchain/nvcc_command.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

// How an option that takes a value is written in the result.
enum class Form {
  joined,   // -DX
  equals,   // -std=c++17
  apart,    // -isystem /folder
  dropped,  // not at all
};

struct Option {
  std::string_view brief, full;  // "-D", "--define-macro"
  std::string_view written;      // the spelling in the result
  Form form;
};

// nvcc takes the value of an option in the next word or behind '='; behind a single letter also without anything.
constexpr std::array<Option, 42> kWithValue = {{
    {"-D", "--define-macro", "-D", Form::joined},
    {"-U", "--undefine-macro", "-U", Form::joined},
    {"-I", "--include-path", "-I", Form::joined},
    {"-L", "--library-path", "-L", Form::joined},
    {"-l", "--library", "-l", Form::joined},
    {"-O", "--optimize", "-O", Form::joined},
    {"-isystem", "--system-include", "-isystem", Form::apart},
    {"-include", "--pre-include", "-include", Form::apart},
    {"-x", "--x", "-x", Form::apart},
    {"-std", "--std", "-std=", Form::equals},
    {"-ccbin", "--compiler-bindir", "-ccbin=", Form::equals},
    {"-Xcompiler", "--compiler-options", "-Xcompiler=", Form::equals},
    {"-Xptxas", "--ptxas-options", "-Xptxas=", Form::equals},
    {"-Xlinker", "--linker-options", "-Xlinker=", Form::equals},
    {"-Xnvlink", "--nvlink-options", "-Xnvlink=", Form::equals},
    {"-Xcudafe", "--cudafe-options", "-Xcudafe=", Form::equals},
    {"-Xnvvm", "--nvvm-options", "-Xnvvm=", Form::equals},
    {"-rdc", "--relocatable-device-code", "-rdc=", Form::equals},
    {"-cudart", "--cudart", "-cudart=", Form::equals},
    {"-cudadevrt", "--cudadevrt", "-cudadevrt=", Form::equals},
    {"-maxrregcount", "--maxrregcount", "-maxrregcount=", Form::equals},
    {"-ftz", "--ftz", "-ftz=", Form::equals},
    {"-fmad", "--fmad", "-fmad=", Form::equals},
    {"-prec-div", "--prec-div", "-prec-div=", Form::equals},
    {"-prec-sqrt", "--prec-sqrt", "-prec-sqrt=", Form::equals},
    {"-default-stream", "--default-stream", "-default-stream=", Form::equals},
    {"-diag-error", "--diag-error", "-diag-error=", Form::equals},
    {"-diag-suppress", "--diag-suppress", "-diag-suppress=", Form::equals},
    {"-diag-warn", "--diag-warn", "-diag-warn=", Form::equals},
    {"-arch", "--gpu-architecture", "--gpu-architecture=", Form::equals},
    {"-code", "--gpu-code", "--gpu-code=", Form::equals},
    {"-gencode", "--generate-code", "--generate-code=", Form::equals},
    {"-o", "--output-file", "", Form::dropped},
    {"-odir", "--output-directory", "", Form::dropped},
    {"-MF", "--dependency-output", "", Form::dropped},
    {"-MT", "--dependency-target-name", "", Form::dropped},
    {"-MQ", "", "", Form::dropped},
    {"-keep-dir", "--keep-dir", "", Form::dropped},
    {"-time", "--time", "", Form::dropped},
    {"-fdevice-time-trace", "--fdevice-time-trace", "", Form::dropped},
    {"-t", "--threads", "--threads=", Form::equals},
    {"-split-compile", "--split-compile", "--split-compile=", Form::equals},
}};

struct Flag {
  std::string_view brief, full, written;  // an empty `written`: left out
};
constexpr std::array<Flag, 19> kFlags = {{
    {"-c", "--compile", ""},
    {"-dc", "--device-c", "-rdc=true"},
    {"-dw", "--device-w", "-rdc=false"},
    {"-M", "--generate-dependencies", ""},
    {"-MM", "--generate-nonsystem-dependencies", ""},
    {"-MD", "--generate-dependencies-with-compile", ""},
    {"-MMD", "--generate-nonsystem-dependencies-with-compile", ""},
    {"-MP", "--generate-dependency-targets", ""},
    {"-keep", "--keep", ""},
    {"-save-temps", "--save-temps", ""},
    {"-objtemp", "--objdir-as-tempdir", ""},
    {"-dryrun", "--dryrun", ""},
    {"-v", "--verbose", ""},
    {"-res-usage", "--resource-usage", ""},
    {"-jobserver", "--jobserver", ""},
    {"-G", "--device-debug", "-G"},
    {"-g", "--debug", "-g"},
    {"-lineinfo", "--generate-line-info", "-lineinfo"},
    {"-forward-unknown-to-host-compiler", "--forward-unknown-to-host-compiler", "-forward-unknown-to-host-compiler"},
}};

// An option of the table with its value, taken from the words at `index`, which is moved to the last word used.
struct Taken {
  const Option* option;
  std::string value;
};

std::optional<Taken> take(const Words& words, std::size_t& index) {
  const std::string_view word = words[index];
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  for (const Option& option : kWithValue) {
    if (name != option.brief && (option.full.empty() || name != option.full)) continue;
    if (equals != word.npos) return Taken{&option, std::string(word.substr(equals + 1))};
    if (index + 1 == words.size()) return std::nullopt;
    return Taken{&option, words[++index]};
  }
  for (const Option& option : kWithValue)
    if (option.form == Form::joined && word.starts_with(option.brief) && word.size() > option.brief.size())
      return Taken{&option, std::string(word.substr(option.brief.size()))};
  return std::nullopt;
}

// As nvcc takes them apart: blanks between double quotes separate nothing, and the quotes stay ("-DTEXT="a b"").
Words words_of_variable(const char* name) {
  const char* const value = std::getenv(name);
  Words words;
  bool in_word = false, in_quotes = false;
  for (const char c : std::string_view(value != nullptr ? value : "")) {
    if (c == '"') in_quotes = !in_quotes;
    const bool separates = !in_quotes && (c == ' ' || c == '\t' || c == '\n' || c == '\r');
    if (!separates && !in_word) words.emplace_back();
    if (!separates) words.back() += c;
    in_word = !separates;
  }
  return words;
}

bool names_host_compiler(const Words& words) {
  return std::ranges::any_of(words, [](const std::string& word) {
    return word.starts_with("-ccbin") || word.starts_with("--compiler-bindir");
  });
}

const Flag* find_flag(std::string_view word) {
  const auto found =
      std::ranges::find_if(kFlags, [&](const Flag& flag) { return word == flag.brief || word == flag.full; });
  return found != kFlags.end() ? &*found : nullptr;
}

}  // namespace

bool is_nvcc(const fs::path& compiler) {
  return compiler.filename() == "nvcc" || compiler.filename().string().starts_with("nvcc-");
}

Words canonical_nvcc_options(const Words& words) {
  Words result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (const Flag* flag = find_flag(words[i])) {
      if (!flag->written.empty()) result.emplace_back(flag->written);
      continue;
    }
    auto taken = take(words, i);
    if (!taken) {
      result.push_back(words[i]);
      continue;
    }
    const std::string written(taken->option->written);
    switch (taken->option->form) {
      case Form::joined:
      case Form::equals:
        result.push_back(written + taken->value);
        break;
      case Form::apart:
        result.push_back(written);
        result.push_back(std::move(taken->value));
        break;
      case Form::dropped:
        break;
    }
  }
  return result;
}

Words with_nvcc_environment(const Words& words) {
  Words result = words_of_variable("NVCC_PREPEND_FLAGS");
  result.insert(result.end(), words.begin(), words.end());
  const Words last = words_of_variable("NVCC_APPEND_FLAGS");
  result.insert(result.end(), last.begin(), last.end());
  const char* const host = std::getenv("NVCC_CCBIN");
  if (host != nullptr && *host != '\0' && !names_host_compiler(result))
    result.insert(result.begin(), "-ccbin=" + std::string(host));
  return result;
}

Words without_architectures(const Words& options) {
  // Link-time optimisation of device code is an architecture of its own, code=[lto_90].
  constexpr std::array<std::string_view, 4> kLinkTime = {"-dlto", "--dlink-time-opt", "-lto", "--lto"};
  Words result;
  std::ranges::remove_copy_if(options, std::back_inserter(result), [&](const std::string& option) {
    return option.starts_with("--gpu-architecture=") || option.starts_with("--gpu-code=") ||
           option.starts_with("--generate-code=") || std::ranges::find(kLinkTime, option) != kLinkTime.end();
  });
  return result;
}

}  // namespace kagent::toolchain
