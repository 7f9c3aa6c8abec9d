// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "toolchain/compile_command.h"
#include "toolchain/toolchain.h"

namespace kagent::toolchain {

struct HostToolchainOptions {
  CompileCommand command;                        // of the generated source, as the build has it
  std::filesystem::path source;                  // the baseline: its name, and its folder for relative includes
  std::filesystem::path runtime;                 // libkagent_runner.a
  std::string entry;                             // "ns::softmax_forward"
  std::vector<Parameter> parameters;
  std::vector<std::string> libraries;            // rules.libraries
  std::vector<std::filesystem::path> visible;    // folders that the compiler may read: project and build folder
  std::vector<std::filesystem::path> covered;    // folders that it may not: golden data, .git, kagent's state
  std::chrono::milliseconds time_limit{60'000};
  bool allow_unsandboxed = false;
};

// The host C++ compiler, sandboxed. Object files are equal for equal programs, wherever the work folder lies.
std::unique_ptr<Toolchain> make_host_toolchain(HostToolchainOptions options);

// Options for the fp64 reference: its own source and function, every floating parameter as float64, no stream, the
// compiler of `command` but none of its flags (-O2, the same language standard).
HostToolchainOptions reference_options(const HostToolchainOptions& options, const Reference& reference);

// Project headers that `source` includes, from the compiler's own dependency output (system headers left out): absolute,
// sorted. Runs the compiler's preprocessor.
Result<std::vector<std::filesystem::path>> included_headers(const CompileCommand& command,
                                                            const std::filesystem::path& source);

// "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64": the highest level that this machine runs.
std::string machine_level();
// Whether code compiled for `level` runs here.
bool machine_runs(const std::string& level);
// Model name and core count of this machine, for records.
std::string machine_description();

}  // namespace kagent::toolchain
