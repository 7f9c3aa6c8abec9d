// SPDX-License-Identifier: Apache-2.0
#include "spec/init.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "cli/command.h"
#include "util/files.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

namespace fs = std::filesystem;

struct InitOptions {
  fs::path source;
  std::string entry, kernel;
  fs::path golden;
};

// `path` as one argument of a CMake call.
std::string cmake_argument(const fs::path& path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
  std::string text = path.string();
  if (text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '$') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

// What to put into CMakeLists.txt, with paths as seen from the current folder.
void print_cmake_call(const InitOptions& options, const spec::FirstSpec& first, const fs::path& folder) {
  fmt::print(
      "\nThen add this to the CMakeLists.txt of the target that has the source (paths as seen from it):\n"
      "  kagent_optimize_kernel({}\n    TARGET <target>\n    SOURCE {}\n    GOLDEN {})\n",
      first.kernel, util::clean(cmake_argument(options.source)), util::clean(cmake_argument(folder)));
}

int init(const InitOptions& options) {
  const std::string source = require(util::read_file(options.source));
  auto first = spec::first_spec(source, options.entry, options.kernel);
  if (!first) throw UserError(options.source.string() + ": " + first.error().message, first.error().fix);
  const fs::path folder = options.golden.empty() ? fs::path("golden") / first->kernel : options.golden;
  for (const fs::path& file : require(spec::write_first_spec(folder, *first)))
    fmt::print("wrote {}\n", util::clean(file.string()));
  fmt::print("\nIt loads, but rests on guesses. Look at these (docs/spec.md explains every key):\n");
  for (const std::string& line : first->to_complete) fmt::print("  {}\n", util::clean(line));
  print_cmake_call(options, *first, folder);
  return kDone;
}

}  // namespace

void add_init(CLI::App& app, Action& action) {
  auto options = std::make_shared<InitOptions>();
  CLI::App* command = app.add_subcommand("init", "Write a first kernel.json from a function's signature");
  command->add_option("source", options->source, "C++ or CUDA source that defines the function")->required();
  command
      ->add_option("entry", options->entry, "Name of the function or __global__ kernel, with or without its namespaces")
      ->required();
  command->add_option("--kernel", options->kernel, "Name of the kernel; the function's own if left out");
  command->add_option("--golden", options->golden, "Folder to write to; golden/<kernel> if left out");
  add_example(*command, "kagent init kernels/softmax.cpp softmax_forward");
  command->callback([options, &action] { action = [options] { return init(*options); }; });
}

}  // namespace kagent::cli
