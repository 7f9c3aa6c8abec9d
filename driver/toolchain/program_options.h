// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "toolchain/compile_command.h"
#include "values/kernel_spec.h"

namespace kagent::toolchain {

// What every toolchain needs to know that makes one program of a kernel's source and the runner's runtime.
struct ProgramOptions {
  CompileCommand command;         // of the generated source, as the build has it
  std::filesystem::path source;   // the baseline: its name, and its folder for relative includes
  std::filesystem::path runtime;  // libkagent_runner.a, or libkagent_cuda_runner.a
  std::string entry;              // "ns::softmax_forward"
  std::vector<Parameter> parameters;
  std::vector<std::string> libraries;          // rules.libraries
  std::vector<std::filesystem::path> visible;  // folders that the compiler may read: project and build folder
  std::vector<std::filesystem::path> covered;  // folders that it may not: golden data, .git, kagent's state
  std::chrono::milliseconds time_limit{60'000};
  bool allow_unsandboxed = false;
};

}  // namespace kagent::toolchain
