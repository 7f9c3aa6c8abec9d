// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "toolchain/compile_command.h"
#include "toolchain/machine.h"
#include "toolchain/program_options.h"
#include "toolchain/toolchain.h"

namespace kagent::toolchain {

struct HostToolchainOptions : ProgramOptions {
  bool isolated = false;  // each level of one program gets a copy of its own: a source that keeps state is refused
};

// The host C++ compiler, sandboxed. Object files are equal for equal programs, wherever the work folder lies.
// The first source that compiles sets the entry's mangled name and the functions that other files may call: compile the
// baseline first. A candidate that would not link in its place is compile_failed.
std::unique_ptr<Toolchain> make_host_toolchain(HostToolchainOptions options);

// Options for the fp64 reference: its own source and function, every floating parameter as float64, no stream, the
// compiler of `command` but none of its flags (-O2, the same language standard).
HostToolchainOptions reference_options(const HostToolchainOptions& options, const Reference& reference);

// The words that compile `source` into `object`: the build's own options, in their order, with the baseline's folder
// for relative includes in front and what makes objects comparable behind.
std::vector<std::string> compile_words(const HostToolchainOptions& options, const std::filesystem::path& source,
                                       const std::filesystem::path& object);

// Project headers that `source` includes, from the compiler's own dependency output: absolute, sorted. Headers of the
// machine are left out: below /usr, in folders that the options call system ones, and the compiler's own, wherever it
// is installed. What lies in one of `own_folders` belongs to the project however it is included, unless it is the
// compiler's and the compiler lies there too. Runs the compiler's preprocessor.
Result<std::vector<std::filesystem::path>> included_headers(const CompileCommand& command,
                                                            const std::filesystem::path& source,
                                                            const std::vector<std::filesystem::path>& own_folders);

}  // namespace kagent::toolchain
