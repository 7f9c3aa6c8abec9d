// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "toolchain/diagnostics.h"
#include "toolchain/host_toolchain.h"
#include "toolchain/nvcc_command.h"
#include "toolchain/tool_process.h"
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
  const fs::path relative = file.lexically_relative(folder.lexically_normal());
  return !relative.empty() && *relative.begin() != "..";
}

// Folders whose headers belong to the machine: the system's, and those that the options call so.
std::vector<fs::path> system_folders(const CompileCommand& command) {
  std::vector<fs::path> folders{"/usr", "/lib", "/lib64", command.compiler.parent_path().parent_path()};
  // The CUDA Toolkit may lie elsewhere than the link in the search path.
  const auto installed = installation_of(command.compiler);
  folders.insert(folders.end(), installed.begin(), installed.end());
  for (std::size_t i = 0; i + 1 < command.options.size(); ++i)
    if (command.options[i] == "-isystem") folders.push_back(command.directory / command.options[i + 1]);
  return folders;
}

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
    return failure("cannot read the headers of '" + source.string() + "': " + reason.substr(0, reason.find('\n')),
                   "make the source compile first");
  }
  const std::vector<fs::path> system = system_folders(command);
  const auto in_any = [](const fs::path& file, const std::vector<fs::path>& folders) {
    return std::ranges::any_of(folders, [&](const fs::path& folder) { return lies_in(file, folder); });
  };
  std::vector<fs::path> headers;
  for (const std::string& name : parse_prerequisites(finished->standard_output)) {
    const fs::path header = (command.directory / name).lexically_normal();
    if (header == source.lexically_normal() || is_precompiled_header(header)) continue;
    if (in_any(header, own_folders) || !in_any(header, system)) headers.push_back(header);
  }
  std::ranges::sort(headers);
  const auto repeated = std::ranges::unique(headers);
  headers.erase(repeated.begin(), repeated.end());
  return headers;
}

}  // namespace kagent::toolchain
