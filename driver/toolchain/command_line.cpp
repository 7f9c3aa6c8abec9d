// SPDX-License-Identifier: Apache-2.0
#include "toolchain/command_line.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include "toolchain/nvcc_command.h"
#include "util/files.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 10> kLaunchers = {"ccache",    "sccache", "distcc", "icecc", "buildcache",
                                                         "fastbuild", "env",     "time",   "nice",  "cmake"};
// The usual names of C++ compilers, as the end of a file name without its version: also clang++, nvc++,
// aarch64-linux-gnu-g++.
constexpr std::array<std::string_view, 7> kCompilerEndings = {"g++", "c++", "gcc", "clang", "icpx", "hipcc", "nvcc"};
// Nested response files deeper than this are a loop.
constexpr int kDeepestResponseFile = 10;

bool is_launcher(const std::string& word) {
  return std::ranges::find(kLaunchers, fs::path(word).filename().string()) != kLaunchers.end();
}

bool looks_like_compiler(const std::string& word) {
  std::string name = fs::path(word).filename().string();
  while (!name.empty() && (std::string_view("0123456789.").find(name.back()) != std::string_view::npos))
    name.pop_back();
  if (name.ends_with('-')) name.pop_back();
  if (name == "cc" || name == "CC") return true;
  return std::ranges::any_of(kCompilerEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

// Index of the compiler among the words: behind launchers, their options and NAME=value words.
std::size_t find_compiler(const Words& words) {
  const auto is_assignment = [](const std::string& word) { return word.find('=') != std::string::npos; };
  for (std::size_t i = 0; i < words.size() && words[i] != "-o" && words[i] != "-c"; ++i) {
    if (words[i].starts_with('-') || is_assignment(words[i]) || is_launcher(words[i])) continue;
    const bool value_of_option =
        i > 0 && words[i - 1].starts_with('-') && words[i - 1] != "--" && !is_assignment(words[i - 1]);
    if (!value_of_option && looks_like_compiler(words[i])) return i;
  }
  std::size_t i = 0;
  while (i + 1 < words.size() && (is_launcher(words[i]) || is_assignment(words[i]))) ++i;
  return i;
}

fs::path search_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    fs::path file = fs::path(rest.substr(0, end)) / name;
    std::error_code error;
    // A folder of links to a launcher (as ccache installs one) is passed over.
    if (::access(file.c_str(), X_OK) == 0 && !is_launcher(fs::weakly_canonical(file, error).string())) return file;
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return {};
}

Result<fs::path> resolve_compiler(const fs::path& directory, const std::string& word) {
  std::error_code error;
  if (word.find('/') != std::string::npos) {
    const fs::path file = (directory / word).lexically_normal();
    if (!is_launcher(fs::weakly_canonical(file, error).string())) {
      if (fs::exists(file, error)) return file;
      return failure("the compiler '" + word + "' of the compile database does not exist", "configure the build again");
    }
  }
  if (fs::path found = search_path(fs::path(word).filename().string()); !found.empty()) return found;
  return failure("the compiler '" + word + "' of the compile database is not in PATH", "configure the build again");
}

// The file that a word such as "@file" or "--options-file=file" names; empty if it names none.
std::string option_file(const std::string& word) {
  for (const std::string_view prefix : {"@", "--options-file=", "-optf="})
    if (word.starts_with(prefix)) return word.substr(prefix.size());
  return {};
}

// A compiler takes @file as the words in it, and literally if there is no such file; nvcc calls it --options-file.
void expand(const fs::path& directory, Words words, int depth, Words& expanded) {
  const auto take = [&](const std::string& file) {
    if (depth >= kDeepestResponseFile) return false;
    const auto contents = util::read_file(directory / file);
    if (contents) expand(directory, util::split_shell_words(*contents), depth + 1, expanded);
    return contents.has_value();
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool named = (words[i] == "--options-file" || words[i] == "-optf") && i + 1 < words.size();
    if (named && take(words[i + 1]))
      ++i;
    else if (const std::string file = option_file(words[i]); file.empty() || !take(file))
      expanded.push_back(std::move(words[i]));
  }
}

// The options that stand for what GCC and Clang take from the environment: include folders behind all others, of which
// an empty name is the working folder. They are the machine's: whoever sets them means packages, and not the project.
Words environment_options(const Words& others) {
  Words options;
  for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    std::string_view rest = value;
    for (bool more = true; more;) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      const std::string folder = end == 0 ? "." : std::string(rest.substr(0, end));
      // Named once more as a system folder, it would be searched behind the others.
      if (std::ranges::find(others, "-I" + folder) == others.end()) options.insert(options.end(), {"-isystem", folder});
      more = end < rest.size();
      rest.remove_prefix(more ? end + 1 : end);
    }
  }
  return options;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// Output, dependency files and everything that is about how messages look or what else is written.
bool is_dropped_alone(std::string_view word) {
  return is_one_of(word,
                   {"-c", "-MD", "-MMD", "-MP", "-M", "-MM", "-MG", "-fcolor-diagnostics", "-fansi-escape-codes"}) ||
         word.starts_with("-fdiagnostics-color") || word.starts_with("-save-temps") ||
         word.starts_with("--save-temps") || word.starts_with("-fmodule-mapper=") || word.starts_with("-fdeps-") ||
         (word.starts_with('@') && word.ends_with(".modmap"));
}

bool is_dropped_with_value(std::string_view word) {
  return is_one_of(word, {"-o", "-MT", "-MF", "-MQ", "-MJ"});
}

bool is_dropped_joined(std::string_view word) {
  return word.starts_with("-MT") || word.starts_with("-MF") || word.starts_with("-MQ") || word.starts_with("-Wp,-M") ||
         (word.starts_with("-o") && word.size() > 2);
}

// Options whose value is the next word, so that a value is never taken for the input or for an option.
bool takes_value(std::string_view word) {
  return is_one_of(word,
                   {"-D",          "-U",         "-I",       "-x",        "-include",  "-imacros", "-isystem",
                    "-iquote",     "-idirafter", "-iprefix", "-isysroot", "--sysroot", "-Xclang",  "-Xpreprocessor",
                    "-Xassembler", "-Xlinker",   "-target",  "--param",   "-std",      "-arch",    "-aux-info",
                    "-L",          "-l",         "-B",       "-T",        "-u",        "-z",       "-mllvm"});
}

// Drops what is not an option of the compilation. Two-word definitions are joined, so that there is one form of them.
Words options_of(const fs::path& directory, const Words& words, const fs::path& source, bool& has_input) {
  Words options;
  const auto is_input = [&](const std::string& word) {
    return word == source.string() || (directory / word).lexically_normal() == source.lexically_normal();
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool last = i + 1 == words.size();
    if (is_dropped_with_value(word)) {
      ++i;
    } else if (is_dropped_alone(word) || is_dropped_joined(word) || (word == "--" && !last)) {
      continue;
    } else if ((word == "-D" || word == "-U") && !last) {
      options.push_back(word + words[++i]);
    } else if (takes_value(word) && !last) {
      options.push_back(word);
      options.push_back(words[++i]);
    } else if (!word.starts_with('-') && is_input(word)) {
      has_input = true;
    } else {
      options.push_back(word);
    }
  }
  return options;
}

}  // namespace

Result<CompileCommand> parse_command_line(const fs::path& directory, Words words, const fs::path& source) {
  if (words.empty()) return failure("the compile database has an empty command for '" + source.string() + "'");
  const std::size_t index = find_compiler(words);
  auto compiler = resolve_compiler(directory, words[index]);
  if (!compiler) return std::unexpected(compiler.error());
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(index) + 1);

  Words expanded;
  expand(directory, std::move(words), 0, expanded);
  if (is_nvcc(*compiler)) expanded = canonical_nvcc_options(with_nvcc_environment(expanded));
  const Words of_environment = environment_options(expanded);
  expanded.insert(expanded.end(), of_environment.begin(), of_environment.end());
  bool has_input = false;
  CompileCommand command{directory, *std::move(compiler), options_of(directory, expanded, source, has_input)};
  if (!has_input)
    return failure("the compile database's command for '" + source.string() + "' does not name that file",
                   "configure the build again");
  return command;
}

Words CompileCommand::definitions() const {
  Words result;
  for (const std::string& option : options) {
    if (!option.starts_with("-D") && !option.starts_with("-U")) continue;
    const std::string name =
        option.substr(2, option.find('=') == std::string::npos ? option.npos : option.find('=') - 2);
    if (name != "NDEBUG" && name != "CMAKE_INTDIR") result.push_back(option);
  }
  return result;
}

std::string CompileCommand::standard() const {
  std::string result = "default";
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& option = options[i];
    if (option.starts_with("-std="))
      result = option.substr(5);
    else if (option.starts_with("--std="))
      result = option.substr(6);
    else if (option == "-std" && i + 1 < options.size())
      result = options[i + 1];
    else if (option == "-ansi")
      result = "c++98";
  }
  return result;
}

bool CompileCommand::optimised() const {
  // nvcc optimises device code unless it is told to make it fit for a debugger; its -O is the host compiler's.
  if (is_nvcc(compiler)) return std::ranges::find(options, "-G") == options.end();
  bool result = false;
  for (const std::string& option : options)
    if (option.starts_with("-O")) result = option != "-O0" && option != "-Og";
  return result;
}

}  // namespace kagent::toolchain
