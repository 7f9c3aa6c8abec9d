// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kagent {

enum class TuneMode { pick, missing, always };
enum class Language { cxx, cuda };

// One source that the build compiles for this kernel: written by `kagent pick`, compiled by CMake's own rule.
struct BuildOutput {
  std::string architecture;         // "native" (the target's own flags), "x86-64-v3", or for CUDA "sm_90"
  std::filesystem::path generated;  // absolute; also the key into the compile database

  // Holds the baseline and the choice among the levels beside it, and is no architecture itself.
  bool is_dispatcher() const { return architecture == "dispatch"; }
};

// What one kagent_optimize_kernel() call asks for: <build>/kagent/<target>/<kernel>/request.json, written by CMake.
// All paths are absolute.
struct KernelRequest {
  std::filesystem::path file;  // where the request was read from
  std::string kernel;
  std::string target;
  std::filesystem::path source;            // the baseline
  Language language = Language::cxx;       // of the source
  std::filesystem::path golden;            // folder of kernel.json
  std::filesystem::path project_dir;       // holds variants/
  std::filesystem::path build_dir;         // top of the build tree
  std::filesystem::path compile_commands;  // compile_commands.json of the build
  std::string config;                      // multi-config generators: the configuration that is tuned; else empty
  std::vector<BuildOutput> outputs;        // at least one
  TuneMode tune = TuneMode::missing;
  std::string proposer = "search";
  std::map<std::string, std::string> model_settings = {};  // of cache variables, without the prefix KAGENT_: MODEL, ...
  int rounds = 6;
  int width = 8;  // candidates a round
  std::chrono::seconds time_budget{300};
  double min_gain = 0.01;
  bool require_tuned = false;
  bool require_reviewed = false;   // a build leaves out variants that nobody confirmed with `kagent review`
  bool remote_variants = false;    // KAGENT_REMOTE_VARIANTS
  bool allow_unsandboxed = false;  // KAGENT_ALLOW_UNSANDBOXED
};

}  // namespace kagent
