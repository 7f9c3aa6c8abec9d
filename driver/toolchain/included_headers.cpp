// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "toolchain/diagnostics.h"
#include "toolchain/host_toolchain.h"
#include "util/subprocess.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kPreprocessLimit{60};

// Prerequisites of the one rule that `-MM` prints: "a.o: /s/a.cpp /s/b\ c.h \<newline> ...", with "$$" for '$'.
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
    if (c == '\\' && (next == ' ' || next == '#' || next == ':'))
      name += rule[++i];
    else if (c == '\\' && next == '\n')
      finish(), ++i;
    else if (c == '$' && next == '$')
      name += rule[++i];
    else if (c == ' ' || c == '\n' || c == '\t')
      finish();
    else
      name += c;
  }
  finish();
  return names;
}

// CMake's own wrapper around a target's precompiled headers: its text has the paths of this machine, and what it
// includes is listed too.
bool is_precompiled_header(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("cmake_pch.");
}

}  // namespace

Result<std::vector<fs::path>> included_headers(const CompileCommand& command, const fs::path& source) {
  util::Command preprocess;
  preprocess.argv = {command.compiler.string()};
  preprocess.argv.insert(preprocess.argv.end(), command.options.begin(), command.options.end());
  for (const char* word : {"-MM", "-fdiagnostics-color=never"}) preprocess.argv.push_back(word);
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
  std::vector<fs::path> headers;
  for (const std::string& name : parse_prerequisites(finished->standard_output)) {
    const fs::path header = (command.directory / name).lexically_normal();
    if (header != source.lexically_normal() && !is_precompiled_header(header)) headers.push_back(header);
  }
  std::ranges::sort(headers);
  const auto repeated = std::ranges::unique(headers);
  headers.erase(repeated.begin(), repeated.end());
  return headers;
}

}  // namespace kagent::toolchain
