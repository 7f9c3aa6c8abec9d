// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <sstream>

#include "toolchain/diagnostics.h"
#include "toolchain/host_toolchain.h"
#include "util/files.h"
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

// CMake's own wrapper around a target's precompiled headers, or kagent's around that one: its text has the paths of
// this machine.
bool is_precompiled_header(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("cmake_pch.");
}

// Adds what the wrapper includes as options of its own. It calls itself a system header, and `-MM` leaves out whatever
// is included from one.
Result<void> include_contents(const fs::path& wrapper, std::vector<std::string>& options) {
  const auto text = util::read_file(wrapper);
  if (!text) return std::unexpected(text.error());
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#include ")) continue;
    const std::size_t start = line.find_first_of("\"<") + 1, end = line.find_last_of("\">");
    if (start == 0 || end == line.npos || end < start) continue;
    const std::string name = line.substr(start, end - start);
    if (is_precompiled_header(name)) {
      if (auto done = include_contents(wrapper.parent_path() / name, options); !done) return done;
      continue;
    }
    options.push_back("-include");
    options.push_back(name);
  }
  return {};
}

Result<std::vector<std::string>> options_without_wrappers(const CompileCommand& command) {
  std::vector<std::string> options;
  for (std::size_t i = 0; i < command.options.size(); ++i) {
    const std::string& option = command.options[i];
    if (option == "-include" && i + 1 < command.options.size() && is_precompiled_header(command.options[i + 1])) {
      if (auto done = include_contents(command.directory / command.options[++i], options); !done)
        return std::unexpected(done.error());
    } else {
      options.push_back(option);
    }
  }
  return options;
}

}  // namespace

Result<std::vector<fs::path>> included_headers(const CompileCommand& command, const fs::path& source) {
  const auto options = options_without_wrappers(command);
  if (!options) return std::unexpected(options.error());
  util::Command preprocess;
  preprocess.argv = {command.compiler.string()};
  preprocess.argv.insert(preprocess.argv.end(), options->begin(), options->end());
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
