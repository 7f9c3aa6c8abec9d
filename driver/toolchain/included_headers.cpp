// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "toolchain/compiler_folders.h"
#include "toolchain/diagnostics.h"
#include "toolchain/host_toolchain.h"
#include "toolchain/nvcc_command.h"
#include "util/subprocess.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kPreprocessLimit{60};

// Prerequisites of the one rule that `-M` prints: "a.o: /s/a.cpp /s/b\ c.h \<newline> ...", with "$$" for '$'.
std::vector<std::string> parse_prerequisites(std::string_view rule) {
  std::vector<std::string> names;
  std::string name;
  const std::size_t colon = rule.find(": ");
  if (colon == rule.npos) return names;
  const auto finish = [&] {
    if (!name.empty()) names.push_back(std::exchange(name, {}));
  };
  rule.remove_prefix(colon + 2);
  for (std::size_t i = 0; i < rule.size(); ++i) {
    const char c = rule[i], next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    const bool escapes = c == '\\' && (next == ' ' || next == '#' || next == ':');
    if (escapes || (c == '$' && next == '$'))
      name += rule[++i];
    else if (c == '\\' && next == '\n')
      finish(), ++i;
    else if (c == ' ' || c == '\n' || c == '\t')
      finish();
    else
      name += c;
  }
  finish();
  return names;
}

// CMake's own wrapper around a target's precompiled headers, or kagent's around that one: its text has the paths of
// this machine. What it includes is listed too, although the wrapper calls itself a system header.
bool is_precompiled_header(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("cmake_pch.");
}

bool lies_in(const fs::path& file, const fs::path& folder) {
  const fs::path relative = file.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

// Which headers belong to the machine. Folders count as they are named and as links lead to them.
class SystemHeaders {
 public:
  SystemHeaders(const CompileCommand& command, const std::vector<fs::path>& own_folders) {
    for (const fs::path& folder : own_folders) add(folder, own_);
    for (const fs::path& folder : own_header_folders(command)) add(folder, compilers_);
    for (const char* folder : {"/usr", "/lib", "/lib64"}) add(folder, declared_);
    for (std::size_t i = 0; i + 1 < command.options.size(); ++i)
      if (command.options[i] == "-isystem") add(command.directory / command.options[i + 1], declared_);
  }

  // What an option calls a system folder is the project's where it lies in the project. A compiler, and its headers
  // with it, may lie there too.
  bool include(const fs::path& header) const {
    const std::size_t own = depth(header, own_);
    return depth(header, compilers_) > own || (own == 0 && depth(header, declared_) > 0);
  }

 private:
  struct Folder {
    fs::path named, real;
  };
  static void add(const fs::path& named, std::vector<Folder>& folders) {
    std::error_code error;
    const fs::path real = fs::canonical(named, error);
    folders.push_back({named.lexically_normal(), error ? named.lexically_normal() : real});
  }
  // Length of the innermost of `folders` that holds `file`, 0 if none does.
  static std::size_t depth(const fs::path& file, const std::vector<Folder>& folders) {
    std::error_code error;
    const fs::path real = fs::canonical(file, error);
    std::size_t deepest = 0;
    for (const Folder& folder : folders)
      if (lies_in(file, folder.named) || lies_in(real, folder.real))
        deepest = std::max(deepest, folder.real.string().size());
    return deepest;
  }

  std::vector<Folder> own_, compilers_, declared_;
};

}  // namespace

Result<std::vector<fs::path>> included_headers(const CompileCommand& command, const fs::path& source,
                                               const std::vector<fs::path>& own_folders) {
  util::Command preprocess;
  preprocess.argv = {command.compiler.string()};
  preprocess.argv.insert(preprocess.argv.end(), command.options.begin(), command.options.end());
  const bool nvcc = is_nvcc(command.compiler);
  for (const char* word : {"-M", nvcc ? "-Xcompiler=-fdiagnostics-color=never" : "-fdiagnostics-color=never"})
    preprocess.argv.push_back(word);
  preprocess.argv.push_back(source.string());
  preprocess.working_folder = command.directory;
  preprocess.environment = util::minimal_environment();
  preprocess.limits.wall = kPreprocessLimit;
  const auto finished = util::run(preprocess);
  if (!finished) return std::unexpected(finished.error());
  if (!finished->ok()) {
    const std::string reason = distil(finished->standard_error, {{}, source.string(), source.filename().string()});
    return failure(
        "cannot read the headers of '" + source.string() + "': " + reason.substr(0, reason.find('\n')),
        "make the source compile first, in a shell with the environment of the build (CPATH, NVCC_APPEND_FLAGS, ...)");
  }
  const SystemHeaders system(command, own_folders);
  std::vector<fs::path> headers;
  for (const std::string& name : parse_prerequisites(finished->standard_output)) {
    const fs::path header = (command.directory / name).lexically_normal();
    if (header == source.lexically_normal() || is_precompiled_header(header)) continue;
    if (!system.include(header)) headers.push_back(header);
  }
  std::ranges::sort(headers);
  const auto repeated = std::ranges::unique(headers);
  headers.erase(repeated.begin(), repeated.end());
  return headers;
}

}  // namespace kagent::toolchain
