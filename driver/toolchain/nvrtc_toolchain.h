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

// Style "kernel": device code alone, compiled to a cubin.
struct NvrtcToolchainOptions {
  CompileCommand command;         // how the build compiles the source with nvcc: definitions, include folders, standard
  std::filesystem::path source;   // the baseline: its name, and its folder for relative includes
  std::filesystem::path worker;   // kagent-nvrtc-worker
  std::filesystem::path toolkit;  // folder of the toolkit's include/; empty: where the compiler of `command` lies
  std::string entry;              // "ops::softmax_rows"
  std::vector<Parameter> parameters;
  std::string architecture;                      // "sm_90", "sm_90a"
  std::vector<std::filesystem::path> visible;    // folders that the compiler may read: project and build folder
  std::vector<std::filesystem::path> covered;    // folders that it may not: golden data, .git, kagent's state
  std::chrono::milliseconds time_limit{60'000};  // of one job
  int workers = 0;                               // 0: one for each core but one
  bool allow_unsandboxed = false;
};

// Compiles with NVRTC in a pool of sandboxed processes, which are started when they are first needed and go on living.
// One that dies or hangs costs its candidate (compile_failed, with the reason) and is replaced.
// A job must carry its launch. Values of tunables that the launch uses and the job does not give are taken from the
// source's own macros. The object's hash is over the cubin and the geometry with the tunables' values put in.
std::unique_ptr<Toolchain> make_nvrtc_toolchain(NvrtcToolchainOptions options);

// The options of NVRTC that stand for the nvcc options of a build, and those that nothing stands for.
struct NvrtcFlags {
  std::vector<std::string> taken;
  std::vector<std::string> left_out;
};
NvrtcFlags nvrtc_flags(const CompileCommand& command);

}  // namespace kagent::toolchain
