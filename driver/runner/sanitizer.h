// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "runner/cuda_runner.h"

namespace kagent::runner {

enum class SanitizerTool { memcheck, racecheck, initcheck, synccheck };
// As compute-sanitizer calls it.
std::string_view name(SanitizerTool tool);

struct SanitizerResult {
  enum class Verdict {
    clean,       // one call ran to its end, and the tool found nothing
    errors,      // it found something: `detail` is its first report
    unfinished,  // the tool itself failed or took too long: says nothing about the code
  };
  SanitizerTool tool = SanitizerTool::memcheck;
  Verdict verdict = Verdict::unfinished;
  int error_count = 0;
  std::string detail;  // one line, cleaned
};

struct SanitizerOptions {
  std::filesystem::path sanitizer;          // compute-sanitizer; see find_sanitizer()
  std::chrono::milliseconds limit{30'000};  // of each tool's start, and of its call
  bool allow_unsandboxed = false;
};

// compute-sanitizer in PATH, or beside the toolkit's compiler in /usr/local/cuda; empty where it is not installed.
std::filesystem::path find_sanitizer();

// One plain call of the binary under each tool, in processes of their own.
std::vector<SanitizerResult> sanitize(const Binary& binary, const std::vector<Parameter>& parameters,
                                      const CallInputs& inputs, const std::vector<SanitizerTool>& tools,
                                      const CudaRunnerOptions& runner, const SanitizerOptions& options);

}  // namespace kagent::runner
