// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "values/error.h"

namespace kagent::toolchain {

// How the build compiles one source, read from compile_commands.json and from those environment variables that add
// options or include folders to every compile step (NVCC_PREPEND_FLAGS, NVCC_APPEND_FLAGS, NVCC_CCBIN, CPATH,
// CPLUS_INCLUDE_PATH).
struct CompileCommand {
  std::filesystem::path directory;   // working folder of the compiler
  std::filesystem::path compiler;    // absolute; launchers such as ccache are left out
  std::vector<std::string> options;  // everything but compiler, launcher, input, -c, -o and dependency output

  std::vector<std::string> definitions() const;  // "-DNAME=value", "-UNAME", in order, without NDEBUG and CMAKE_INTDIR
  std::string standard() const;                  // "gnu++20", or "default"
  bool optimised() const;  // an -O level other than -O0 (-Og counts as not optimised); nvcc: unless it is -G
};

// The entry of `source` (and, under a multi-config generator, of `config`). Reads only that entry's text, since a
// large project's file has megabytes. Errors: no file, no entry (with the fix: configure again).
Result<CompileCommand> find_compile_command(const std::filesystem::path& compile_commands,
                                            const std::filesystem::path& source, const std::string& config);

}  // namespace kagent::toolchain
