// SPDX-License-Identifier: Apache-2.0
#include "toolchain/compiler_folders.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "toolchain/nvcc_command.h"
#include "util/subprocess.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

constexpr std::chrono::seconds kAnswerLimit{60};

// What moves the compiler's own folders. Any other option is left out: one that is missing here makes a header of the
// compiler look like the project's, and a folder of the project that came in with an option would do harm.
bool moves_own_folders(std::string_view option) {
  constexpr std::array<std::string_view, 14> kBeginnings = {
      "--sysroot=", "-isysroot", "-B",    "--target=", "--gcc-toolchain=", "--gcc-install-dir=",  "-stdlib=",
      "-specs=",    "-nostdinc", "-std=", "-ccbin=",   "-target-dir=",     "--target-directory=", "-no-canonical-"};
  constexpr std::array<std::string_view, 4> kWhole = {"-m32", "-m64", "-mx32", "-forward-unknown-to-host-compiler"};
  return std::ranges::any_of(kBeginnings, [&](std::string_view text) { return option.starts_with(text); }) ||
         std::ranges::find(kWhole, option) != kWhole.end();
}

// Of those, the ones whose value is the next word.
bool has_value_apart(std::string_view option) {
  constexpr std::array<std::string_view, 6> kApart = {"--sysroot", "-isysroot",     "-B",
                                                      "-target",   "-resource-dir", "--target-directory"};
  return std::ranges::find(kApart, option) != kApart.end();
}

// What is left of "-Xcompiler=-fPIC,--sysroot=/opt"; empty if that is nothing.
std::string for_host_compiler(std::string_view parts) {
  std::string kept;
  while (!parts.empty()) {
    const std::size_t end = std::min(parts.find(','), parts.size());
    if (moves_own_folders(parts.substr(0, end))) kept += "," + std::string(parts.substr(0, end));
    parts.remove_prefix(std::min(end + 1, parts.size()));
  }
  return kept.empty() ? kept : "-Xcompiler=" + kept.substr(1);
}

Words moving_options(const Words& options) {
  constexpr std::string_view kHost = "-Xcompiler=";
  Words kept;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (has_value_apart(options[i]) && i + 1 < options.size()) {
      kept.insert(kept.end(), {options[i], options[i + 1]});
      ++i;
    } else if (options[i].starts_with(kHost)) {
      if (std::string parts = for_host_compiler(std::string_view(options[i]).substr(kHost.size())); !parts.empty())
        kept.push_back(std::move(parts));
    } else if (moves_own_folders(options[i])) {
      kept.push_back(options[i]);
    }
  }
  return kept;
}

// The folders in what -v prints: lines that begin with a space, between two that do not.
std::vector<fs::path> parse_search_list(std::string_view text, const fs::path& directory) {
  constexpr std::string_view kFrameworks = " (framework directory)";
  std::vector<fs::path> folders;
  bool inside = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("#include <...> search starts here"))
      inside = true;
    else if (!line.starts_with(' '))
      inside = false;
    else if (inside && !line.ends_with(kFrameworks))
      folders.push_back((directory / line.substr(1)).lexically_normal());
  }
  return folders;
}

// What the compiler prints about itself with -v; empty where it does not run.
std::string ask(const CompileCommand& command) {
  util::Command ask;
  ask.argv = {command.compiler.string()};
  const Words moving = moving_options(command.options);
  ask.argv.insert(ask.argv.end(), moving.begin(), moving.end());
  ask.argv.insert(ask.argv.end(), {"-E", is_nvcc(command.compiler) ? "-Xcompiler=-v" : "-v", "-x", "c++", "/dev/null"});
  ask.working_folder = command.directory;
  ask.environment = util::minimal_environment();
  ask.limits.wall = kAnswerLimit;
  const auto answer = util::run(ask);
  return answer && answer->ok() ? answer->standard_error : std::string();
}

// The rest of the line that begins so.
std::string line_after(std::string_view text, std::string_view beginning) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(beginning)) return std::string(line.substr(beginning.size()));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

}  // namespace

std::vector<fs::path> own_header_folders(const CompileCommand& command) {
  return parse_search_list(ask(command), command.directory);
}

fs::path wrapped_compiler(const CompileCommand& command) {
  const std::string answer = ask(command);
  fs::path compiler = line_after(answer, "COLLECT_GCC=");
  if (const std::string folder = line_after(answer, "InstalledDir: "); !folder.empty())
    compiler = fs::path(folder) / "clang++";
  return compiler.is_absolute() ? compiler : fs::path();
}

}  // namespace kagent::toolchain
